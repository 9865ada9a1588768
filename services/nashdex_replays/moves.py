"""Facts about moves from the game's data: the target that a user chooses, category and flags."""

from typing import Final

from nashdex_replays.data import game_data

CHOOSABLE: Final = frozenset({"normal", "any", "adjacentAlly", "adjacentAllyOrSelf", "adjacentFoe"})
"""Kinds of targets among which the user chooses in double battles (Showdown, ``sim/battle-actions.ts``)."""
_WITHOUT_CHOICE: Final = frozenset({"curse", "struggle", "recharge"})
"""Moves whose requests name no target."""
_HIDDEN_POWER: Final = "hiddenpower"


def target_kind(move: str, generation: int) -> str:
    """Return the simulator's kind of target of a move's id; empty for an unknown move."""
    known = _HIDDEN_POWER if move.startswith(_HIDDEN_POWER) else move
    if known in _WITHOUT_CHOICE:
        return "self"
    kind: str = game_data(generation).moves.get(known, {}).get("target", "")
    return kind


def is_status(move: str, generation: int) -> bool:
    """Say whether a move does no damage."""
    category: str = game_data(generation).moves.get(move, {}).get("category", "")
    return category == "Status"


def has_flag(move: str, flag: str, generation: int) -> bool:
    """Say whether a move has one of the simulator's flags, such as ``heal`` or ``sound``."""
    flags: dict[str, int] = game_data(generation).moves.get(move, {}).get("flags", {})
    return flag in flags
