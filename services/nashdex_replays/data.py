"""The simulator's tables of species, moves and natures, as poke-env packages them."""

from functools import cache
from typing import TYPE_CHECKING

from nashdex.core.extras import required

if TYPE_CHECKING:
    from poke_env.data import GenData


@cache
def game_data(generation: int) -> "GenData":
    """Return the tables of a generation."""
    tables: type[GenData] = required("poke_env.data:GenData", extra="battles", needed_by="a battle's log")
    return tables.from_gen(generation)
