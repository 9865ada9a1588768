"""What the rules of ``emerald-kaizo`` ask about a decision, and how they are collected."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from poke_env.battle import Effect, Move, Pokemon, Status

from nashdex_metamon.baselines.situation import Situation

Rule = Callable[["Context", Move], int]
"""Returns what a move's score gains."""
RULES: Final[list[tuple[Callable[["Context", Move], bool], Rule]]] = []
"""Each rule with the moves that it is for, in order."""

_FAST: Final = 0.5
FIVE_STATS: Final = ("atk", "spa", "def", "spd", "evasion")


@dataclass(slots=True)
class Context:
    """One decision."""

    situation: Situation
    is_repaired: bool = False
    """Whether rules follow their authors' intention instead of the original's code."""
    own: Pokemon = field(init=False)
    foe: Pokemon = field(init=False)
    h: float = field(init=False)
    """The share of HP that the own active Pokémon has left."""
    o: float = field(init=False)
    """The opponent's."""
    slow: bool = field(init=False)
    last: Move | None = field(init=False)
    """The own last move, unless the Pokémon has just come in."""
    foe_last: Move | None = field(init=False)

    def __post_init__(self) -> None:
        """Look up what many rules ask."""
        self.own, self.foe = self.situation.own, self.situation.foe
        self.h, self.o = self.own.current_hp_fraction, self.foe.current_hp_fraction
        self.slow = self.situation.outspeed_chance() <= _FAST
        self.last, self.foe_last = _last_move(self.own), _last_move(self.foe)

    def p(self, percent: float) -> bool:
        """Draw with a probability in per cent."""
        return self.situation.random.random() < percent / 100

    def when(self, percent: float, gain: int) -> int:
        """Return ``gain`` with a probability in per cent, else 0."""
        return gain if self.p(percent) else 0

    def effect(self, move: Move) -> float:
        """Return how effective a move's type is on the opponent's active Pokémon."""
        return self.situation.advantage(move.type)

    def ineffective(self, move: Move) -> bool:
        """Say whether the opponent's active Pokémon is immune by type."""
        return self.effect(move) == 0

    def resisted(self, move: Move) -> bool:
        """Say whether a move is less than normally effective."""
        return self.effect(move) < 1

    def super(self, move: Move) -> bool:
        """Say whether a move is more than normally effective."""
        return self.effect(move) > 1

    def has(self, *moves: str) -> bool:
        """Say whether the own active Pokémon knows one of ``moves``."""
        return any(move in self.own.moves for move in moves)

    def foe_is(self, *types: str) -> bool:
        """Say whether the opponent's active Pokémon has one of ``types``."""
        return any(type_.name.lower() in types for type_ in self.foe.types)

    def own_is(self, *types: str) -> bool:
        """Say whether the own active Pokémon has one of ``types``."""
        return any(type_.name.lower() in types for type_ in self.own.types)

    def stage(self, stat: str) -> int:
        """Return the own stage of a stat."""
        return self.own.boosts[stat]

    def foe_stage(self, stat: str) -> int:
        """Return the opponent's stage of a stat."""
        return self.foe.boosts[stat]

    @property
    def foe_hp(self) -> float:
        """What damage is compared with: as in the original the opponent's HP in per cent; repaired, its points."""
        if not self.is_repaired:
            return float(self.foe.current_hp)
        return self.o * self.situation.arithmetic.stat(self.foe, "hp", "uniform")

    def weather_is(self, *names: str) -> bool:
        """Say whether one of these weathers is up; the original, which compares a map with a name, never sees one."""
        return self.is_repaired and any(weather.name.lower() in names for weather in self.situation.battle.weather)

    @property
    def foe_cannot_act(self) -> bool:
        """Whether the opponent's active Pokémon sleeps or is confused."""
        return self.foe.status == Status.SLP or Effect.CONFUSION in self.foe.effects


def words(text: str) -> tuple[str, ...]:
    """Return the names in a text."""
    return tuple(text.split())


def _last_move(pokemon: Pokemon) -> Move | None:
    if pokemon.first_turn:
        return None
    return next((move for move in pokemon.moves.values() if move.is_last_used), None)


def rule(*moves: str) -> Callable[[Rule], Rule]:
    """Register a rule for the named moves."""
    named = frozenset(moves)
    return rule_if(lambda context, move: move.id in named)


def rule_if(applies: Callable[["Context", Move], bool]) -> Callable[[Rule], Rule]:
    """Register a rule for the moves that ``applies`` says."""

    def register(added: Rule) -> Rule:
        RULES.append((applies, added))
        return added

    return register


def raises(move: Move, stat: str) -> bool:
    """Say whether a move raises a stat of its user."""
    is_own = move.target is not None and move.target.name == "SELF"
    boosts = (move.boosts or {}) if is_own else {}
    return boosts.get(stat, 0) > 0 or (move.self_boost or {}).get(stat, 0) > 0
