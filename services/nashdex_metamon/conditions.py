"""Effects, side conditions, weather and field of a battle, as poke-env 0.8.3 keeps them.

The tracker has the conditions that matter in play. metamon's states show one effect of each active Pokémon and one
condition of each side. The choice depends on the order in which they began, and on momentary effects.
"""

from dataclasses import dataclass, field

from nashdex_metamon.appearance import Appearances
from nashdex_metamon.dex import Dex
from nashdex_metamon.names import NO_CONDITIONS, NO_EFFECT, NO_FIELD, NO_WEATHER, clean_no_numbers


@dataclass(slots=True)
class Conditions:
    """One battle's, seen from outside. ``lines.read_lines`` changes it; begin each battle with a new one."""

    turn: int = 0
    effects: dict[str, dict[str, int]] = field(default_factory=dict)
    """Values by Pokémon (such as ``p1: Pikachu``) and effect, in the order in which the effects began."""
    sides: dict[str, dict[str, int]] = field(default_factory=lambda: {"p1": {}, "p2": {}})
    """Layers of each condition by side, or the turn in which the condition began."""
    weather: str = NO_WEATHER
    fields: dict[str, int] = field(default_factory=dict)
    """The turn that each field began in."""
    active: dict[str, str] = field(default_factory=dict)
    """Pokémon on the field by side, such as ``p1: Pikachu``."""
    last_moves: dict[str, str | None] = field(default_factory=dict)
    """Id of the last move by Pokémon, None after Struggle; switching out does not change it."""
    preview: dict[str, list[str]] = field(default_factory=lambda: {"p1": [], "p2": []})
    """Species at Team Preview by side, with formes."""
    winner: str | None = None
    """The name of the player who won; None before the end and for a tie."""
    players: dict[str, str] = field(default_factory=dict)
    """Name of the player by side."""
    appearances: Appearances = field(default_factory=Appearances)
    own_names: tuple[str, ...] = ()
    """Species of the own team by id, with cosmetic formes, as the last request has them."""

    @classmethod
    def of_generation(cls, dex: Dex) -> "Conditions":
        """Return the conditions of a battle that has not begun."""
        return cls(appearances=Appearances(dex))

    def effect(self, side: str) -> str:
        """Return the effect that a state shows of the active Pokémon: the one of the lowest value, first begun."""
        effects = self.effects.get(self.active.get(side, ""))
        return clean_no_numbers(min(effects, key=effects.__getitem__)) if effects else NO_EFFECT

    def side_condition(self, side: str) -> str:
        """Return the condition that a state shows of a side: the one of the highest value, first begun."""
        conditions = self.sides[side]
        return max(conditions, key=conditions.__getitem__) if conditions else NO_CONDITIONS

    @property
    def field_name(self) -> str:
        """The field that a state shows: the one that began last."""
        return max(self.fields, key=self.fields.__getitem__) if self.fields else NO_FIELD

    def last_move(self, side: str) -> str | None:
        """Return the id of the last move that the active Pokémon used in this battle."""
        return self.last_moves.get(self.active.get(side, ""))
