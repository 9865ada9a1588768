"""The choices of one slot in doubles, by poke-env's numbers; a joint action is ``size · first + second``.

0 passes; 1 to 6 switch to that row of the team; then five targets for each of four moves, without and with each
gimmick: 7 + 20 · gimmick + 5 · (move − 1) + (target + 2). Targets −2 and −1 are the own slots 2 and 1, 0 is none, 1 and
2 are the foe's slots (poke-env 0.16, ``DoublesEnv``).
"""

from dataclasses import dataclass
from typing import Final, Literal

PASS: Final = 0
NUM_ROWS: Final = 6
NUM_MOVES: Final = 4
NUM_TARGETS: Final = 5
FIRST_MOVE: Final = 1 + NUM_ROWS
_MOVES_EACH: Final = NUM_MOVES * NUM_TARGETS
_LOWEST_TARGET: Final = -2

GIMMICKS: Final = ("", "mega", "z-move", "dynamax", "terastallize")
"""In the order of their numbers; a generation has those up to its own."""


@dataclass(frozen=True, slots=True)
class SlotChoice:
    """What one slot does."""

    kind: Literal["pass", "switch", "move"]
    row: int = 0
    """Row of the team to switch to, from 1."""
    move: int = 0
    """Its place among the Pokémon's moves, from 1."""
    target: int = 0
    gimmick: int = 0

    @property
    def number(self) -> int:
        """The choice's number."""
        if self.kind == "pass":
            return PASS
        if self.kind == "switch":
            return self.row
        place = NUM_TARGETS * (self.move - 1) + self.target - _LOWEST_TARGET
        return FIRST_MOVE + _MOVES_EACH * self.gimmick + place


def num_slot_choices(generation: int) -> int:
    """Return how many numbers a slot's choices have: 27 up to generation 5, then 20 more with each to the ninth."""
    return FIRST_MOVE + _MOVES_EACH * max(1, min(generation, 9) - 4)


def slot_choice(number: int) -> SlotChoice:
    """Return the choice of a number."""
    if number == PASS:
        return SlotChoice("pass")
    if number < FIRST_MOVE:
        return SlotChoice("switch", row=number)
    gimmick, place = divmod(number - FIRST_MOVE, _MOVES_EACH)
    move, target = divmod(place, NUM_TARGETS)
    return SlotChoice("move", move=move + 1, target=target + _LOWEST_TARGET, gimmick=gimmick)


def joined(first: int, second: int, size: int) -> int:
    """Return the joint action of two slots' numbers, of ``size`` each."""
    return size * first + second
