"""The simulator's tables of species, moves and natures, as poke-env packages them."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poke_env.data import GenData


@cache
def game_data(generation: int) -> "GenData":
    """Return the tables of a generation."""
    from poke_env.data import GenData  # noqa: PLC0415 - slow to import, and the control image has no poke-env

    return GenData.from_gen(generation)
