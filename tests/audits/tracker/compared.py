"""One feature as the tracker and poke-env see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poke_env.battle import Pokemon


@dataclass(frozen=True)
class Compared:
    """One feature as both see it, in the same terms."""

    feature: str
    tracker: Any
    poke_env: Any
    state: Mapping[str, Any]
    """The tracker's entry of the Pokémon, or its whole state for a feature of the battle."""
    pokemon: Pokemon | None = None
