"""A view of joint actions in EliteFurretAI's numbering: 2,025 pairs of 45 choices, and 90 team previews.

A slot's code is 10 · (move − 1) + the target's place (own slot 2, own slot 1, none, foe 1, foe 2) + 5 with
terastallization; 40 to 43 switch to that place of the request's list of the four Pokémon that were brought; 44 passes.
The joint code is 45 · first + second (EliteFurretAI ``etl/encoder.py``, "MDBO"). Wire actions name rows of the whole
team, so that both directions need ``brought``: the row of the team, from 1, of each Pokémon in the request's list.
"""

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.doubles.slots import NUM_MOVES, TERA, SlotChoice, joined, num_slot_choices, slot_choice

NUM_CODES: Final = 45
NUM_JOINT_CODES: Final = NUM_CODES**2
_FIRST_SWITCH: Final = 40
_NUM_BROUGHT: Final = 4
_PASS: Final = 44
_MOVE_STRIDE: Final = 10
_TERA_STRIDE: Final = 5
_SIZE: Final = num_slot_choices(9)

TEAM_PREVIEWS: Final = tuple(
    "".join(map(str, rows))
    for rows in permutations(range(1, 7), _NUM_BROUGHT)
    if rows[0] < rows[1] and rows[2] < rows[3]
)
"""The 90 previews: the leading rows, then the waiting ones, each pair in ascending order."""
_PREVIEW_NUMBERS: Final = {text: number for number, text in enumerate(TEAM_PREVIEWS)}


def check_format(format_id: str) -> None:
    """Check that the view can express a format's choices.

    Raises:
        ConfigurationError: it has Mega Evolution, or another generation's gimmicks.
    """
    if not format_id.startswith("gen9") or "champions" in format_id:
        raise ConfigurationError(
            f"EliteFurretAI's 2,025 actions cannot play {format_id}: they have terastallization and no Mega Evolution, "
            "Z-move or Dynamax; expected a format such as gen9vgc2024regg"
        )


def code_of(action: int, brought: Sequence[int]) -> int | None:
    """Return the joint code of a wire action; None if there is none (a gimmick but terastallization)."""
    first, second = (_slot_code(number, brought) for number in divmod(action, _SIZE))
    return None if first is None or second is None else NUM_CODES * first + second


def action_of(code: int, brought: Sequence[int]) -> int:
    """Return the wire action of a joint code.

    Raises:
        ValueError: there is no such code, or it switches to a Pokémon beyond those brought.
    """
    if not 0 <= code < NUM_JOINT_CODES:
        raise ValueError(f"joint code {code}: expected 0 to {NUM_JOINT_CODES - 1}")
    first, second = (_slot_number(slot, brought) for slot in divmod(code, NUM_CODES))
    return joined(first, second, _SIZE)


def codes_of(actions: Iterable[int], brought: Sequence[int]) -> dict[int, int]:
    """Return the legal wire actions by joint code, without those that the view cannot express."""
    codes = {action: code_of(action, brought) for action in map(int, actions)}
    return {code: action for action, code in codes.items() if code is not None}


def preview_number(leads: int, bench: int) -> int:
    """Return the number of a team preview, of the two wire actions that choose leads and bench, in any order."""
    rows = [sorted(divmod(action, _SIZE)) for action in (leads, bench)]
    return _PREVIEW_NUMBERS["".join(str(row) for pair in rows for row in pair)]


def preview_actions(number: int) -> tuple[int, int]:
    """Return the wire actions, leads and then bench, of a team preview."""
    first, second, third, fourth = map(int, TEAM_PREVIEWS[number])
    return joined(first, second, _SIZE), joined(third, fourth, _SIZE)


def _slot_code(number: int, brought: Sequence[int]) -> int | None:
    choice = slot_choice(number)
    if choice.kind == "pass":
        return _PASS
    if choice.kind == "switch":
        return _FIRST_SWITCH + brought.index(choice.row) if choice.row in brought[:_NUM_BROUGHT] else None
    if choice.gimmick not in {0, TERA}:
        return None
    return _MOVE_STRIDE * (choice.move - 1) + choice.target + 2 + (_TERA_STRIDE if choice.gimmick else 0)


def _slot_number(code: int, brought: Sequence[int]) -> int:
    if code == _PASS:
        return SlotChoice("pass").number
    if code >= _FIRST_SWITCH:
        place = code - _FIRST_SWITCH
        if place >= len(brought):
            raise ValueError(f"code {code} switches to place {place + 1}, and {len(brought)} Pokémon were brought")
        return SlotChoice("switch", row=brought[place]).number
    move, rest = divmod(code, _MOVE_STRIDE)
    assert move < NUM_MOVES, "codes of moves are below codes of switches"
    tera, target = divmod(rest, _TERA_STRIDE)
    return SlotChoice("move", move=move + 1, target=target - 2, gimmick=TERA if tera else 0).number
