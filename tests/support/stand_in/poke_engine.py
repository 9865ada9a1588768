"""A stand-in for the package poke-engine 0.0.48: its published interface, without its engine.

Constructors take the same keywords with the same defaults, check types and ranges as the package's do, and panic where
it panics. The search visits the legal choices of side one in an order that the position gives. ``seen`` has every state
that was searched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field


class PanicException(BaseException):
    """What a panic in Rust is in Python."""


STATUSES = {"none", "burn", "sleep", "freeze", "paralyze", "poison", "toxic"}
WEATHERS = {"none", "sun", "rain", "sand", "hail", "snow", "harshsun", "heavyrain"}
TERRAINS = {"none", "electricterrain", "psychicterrain", "mistyterrain", "grassyterrain"}
_BYTE, _SHORT = 2**7, 2**15


def _check_integers(most: int, *values: object) -> None:
    for value in values:
        if not isinstance(value, int):
            raise TypeError(f"{value!r} is no integer")
        if not -most <= value < most:
            raise OverflowError(f"{value} does not fit")


def _check_texts(*values: object) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{value!r} is no text")


@dataclass
class VolatileStatusDurations:
    confusion: int = 0
    encore: int = 0
    lockedmove: int = 0
    slowstart: int = 0
    taunt: int = 0
    yawn: int = 0

    def __post_init__(self) -> None:
        _check_integers(_BYTE, *vars(self).values())


@dataclass
class SideConditions:
    spikes: int = 0
    toxic_spikes: int = 0
    stealth_rock: int = 0
    sticky_web: int = 0
    tailwind: int = 0
    lucky_chant: int = 0
    lunar_dance: int = 0
    reflect: int = 0
    light_screen: int = 0
    aurora_veil: int = 0
    crafty_shield: int = 0
    safeguard: int = 0
    mist: int = 0
    protect: int = 0
    healing_wish: int = 0
    mat_block: int = 0
    quick_guard: int = 0
    toxic_count: int = 0
    wide_guard: int = 0

    def __post_init__(self) -> None:
        _check_integers(_BYTE, *vars(self).values())


@dataclass
class Move:
    id: str = "none"
    pp: int = 16
    disabled: bool = False

    def __post_init__(self) -> None:
        _check_texts(self.id)
        _check_integers(_BYTE, self.pp)


@dataclass
class Pokemon:
    id: str = "pikachu"
    level: int = 50
    types: tuple[str, str] = ("normal", "typeless")
    base_types: tuple[str, str] = ("normal", "typeless")
    hp: int = 100
    maxhp: int = 100
    ability: str = "none"
    base_ability: str = ""
    item: str = "none"
    nature: str = "serious"
    evs: tuple[int, int, int, int, int, int] = (85, 85, 85, 85, 85, 85)
    attack: int = 100
    defense: int = 100
    special_attack: int = 100
    special_defense: int = 100
    speed: int = 100
    status: str = "none"
    rest_turns: int = 0
    sleep_turns: int = 0
    weight_kg: float = 0.0
    moves: list[Move] | None = None
    mega_evolved: bool = False
    terastallized: bool = False
    tera_type: str = "typeless"
    times_attacked: int = 0
    stellar_boosted_types: list[str] | None = None

    def __post_init__(self) -> None:
        if len(self.types) != 2 or len(self.base_types) != 2 or len(self.evs) != 6:
            raise TypeError("a tuple of another length")
        _check_texts(self.id, *self.types, *self.base_types, self.ability, self.base_ability, self.item, self.nature)
        _check_texts(self.status, self.tera_type)
        _check_integers(_BYTE, self.level, self.rest_turns, self.sleep_turns)
        _check_integers(_SHORT, self.hp, self.maxhp, self.attack, self.defense, self.special_attack)
        _check_integers(_SHORT, self.special_defense, self.speed)
        if not all(0 <= value < 2 * _BYTE for value in self.evs):
            raise OverflowError("an effort value does not fit")


@dataclass
class Side:
    pokemon: list[Pokemon] = field(default_factory=list)
    active_index: str = "0"
    baton_passing: bool = False
    shed_tailing: bool = False
    volatile_status_durations: VolatileStatusDurations | None = None
    wish: tuple[int, int] = (0, 0)
    future_sight: tuple[int, str] = (0, "0")
    force_switch: bool = False
    force_trapped: bool = False
    slow_uturn_move: bool = False
    volatile_statuses: set[str] | None = None
    substitute_health: int = 0
    attack_boost: int = 0
    defense_boost: int = 0
    special_attack_boost: int = 0
    special_defense_boost: int = 0
    speed_boost: int = 0
    accuracy_boost: int = 0
    evasion_boost: int = 0
    last_used_move: str = "move:none"
    switch_out_move_second_saved_move: str = "none"
    side_conditions: SideConditions | None = None

    def __post_init__(self) -> None:
        _check_texts(self.active_index, *(self.volatile_statuses or ()))
        _check_integers(_SHORT, self.substitute_health)
        _check_integers(_BYTE, self.attack_boost, self.defense_boost, self.special_attack_boost, self.speed_boost)
        _check_integers(_BYTE, self.special_defense_boost, self.accuracy_boost, self.evasion_boost)

    @property
    def active(self) -> Pokemon:
        return self.pokemon[int(self.active_index)]


@dataclass
class State:
    side_one: Side = field(default_factory=Side)
    side_two: Side = field(default_factory=Side)
    weather: str = "none"
    weather_turns_remaining: int = 0
    terrain: str = "none"
    terrain_turns_remaining: int = 0
    trick_room: bool = False
    trick_room_turns_remaining: int = 0
    team_preview: bool = False

    def __post_init__(self) -> None:
        _check_integers(_BYTE, self.weather_turns_remaining, self.terrain_turns_remaining)
        _check_integers(_BYTE, self.trick_room_turns_remaining)


@dataclass
class MctsSideResult:
    move_choice: str
    total_score: float
    visits: int


@dataclass
class MctsResult:
    side_one: list[MctsSideResult]
    side_two: list[MctsSideResult]
    total_visits: int


seen: list[State] = []
durations_ms: list[int] = []
first_choices: list[str] = []
"""Choices that the search visits most, before all others; a test sets them."""
panics: list[str] = []
"""Messages of the panics of the next searches; a test sets them."""


def monte_carlo_tree_search(state: State, duration_ms: int = 1000, iterations: int = 0, threads: int = 1) -> MctsResult:
    del iterations, threads
    _check_integers(_SHORT, duration_ms)
    if panics:
        raise PanicException(panics.pop())
    for side in (state.side_one, state.side_two):
        wrong = [pokemon.status for pokemon in side.pokemon if pokemon.status not in STATUSES]
        if wrong or state.weather not in WEATHERS or state.terrain not in TERRAINS:
            raise PanicException("called `Result::unwrap()` on an `Err` value: ()")
    seen.append(state)
    durations_ms.append(duration_ms)
    options = _options(state)
    start = sum(pokemon.hp for pokemon in (*state.side_one.pokemon, *state.side_two.pokemon)) % len(options)
    ordered = [*first_choices, *options[start:], *options[:start]]
    found = [MctsSideResult(choice, 0.0, 2 ** (len(ordered) - place)) for place, choice in enumerate(ordered)]
    return MctsResult(found, [], sum(option.visits for option in found))


def _options(state: State) -> Sequence[str]:
    side = state.side_one
    switches = [f"switch {pokemon.id}" for pokemon in side.pokemon if pokemon.hp > 0 and pokemon is not side.active]
    if state.team_preview:
        return [f"switch {pokemon.id}" for pokemon in side.pokemon]
    if side.force_switch or side.active.hp <= 0:
        return switches or ["No Move"]
    moves = [move.id for move in side.active.moves or () if not move.disabled and move.pp > 0]
    return [*moves, *([] if side.force_trapped else switches)] or ["No Move"]
