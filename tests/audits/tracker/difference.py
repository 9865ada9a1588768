"""A feature on which the tracker and poke-env differ, with all that helps to explain it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from poke_env.battle import Battle, DoubleBattle, Pokemon

MIN_PARTS: Final = 3
"""Shorter lines are about no Pokémon."""


@dataclass(frozen=True)
class Difference:
    """One feature on which the two disagree, with all that helps to explain it."""

    feature: str
    tracker: Any
    poke_env: Any
    state: Mapping[str, Any]
    """The tracker's entry of the Pokémon, or its whole state for a feature of the battle."""
    battle_state: Mapping[str, Any]
    pokemon: Pokemon | None
    battle: Battle | DoubleBattle
    request: Mapping[str, Any]
    lines: Sequence[str]
    """All lines that the seat has seen."""

    @property
    def role(self) -> str:
        """The side that the feature is about."""
        own, opponent = self.battle.player_role, self.battle.opponent_role
        return str(own if self.feature.startswith("own.") else opponent)

    def is_about(self, *features: str) -> bool:
        """Whether the feature, apart from its side, is one of ``features``."""
        return self.feature.partition(".")[2] in features

    @cached_property
    def ident(self) -> str:
        """How lines call the Pokémon while it is active, in the slot that the latest one names."""
        for parts in self.parts():
            if self.is_named(parts[2]) and parts[2].startswith((f"{self.role}a:", f"{self.role}b:")):
                return parts[2]
        return f"{self.role}a: {self.state['name']}"

    def has_max_moves(self, position: int) -> bool:
        """Whether the request lists Max moves for the slot at ``position`` because its Pokémon is dynamaxed."""
        active = self.request["active"][position] if "active" in self.request else {}
        return "maxMoves" in active and not active.get("canDynamax")

    def is_named(self, ident: str) -> bool:
        """Whether ``ident``, on the field or off it, is the Pokémon."""
        return ident.startswith(self.role) and ident.partition(": ")[2] == self.state["name"]

    def parts(self) -> Iterator[list[str]]:
        """Yield the parts of each line, the latest first."""
        for line in reversed(self.lines):
            parts = line.split("|")
            if len(parts) >= MIN_PARTS:
                yield parts

    def since_entry(self) -> list[list[str]]:
        """Return the parts of the lines since the Pokémon last came in, the earliest first."""
        found = []
        for parts in self.parts():
            found.append(parts)
            if parts[1] in {"switch", "drag"} and parts[2].startswith(self.ident[:3]):
                break
        return found[::-1]
