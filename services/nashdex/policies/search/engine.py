"""``search:poke-engine``: plays by the Monte Carlo tree search of the package ``poke-engine``, where it is installed.

The engine searches worlds that the seat cannot tell from its battle, the same as ``search:matrix``. The seat plays the
choice with the most visits over all worlds. The engine is in Rust and compiled for one generation; it does not say for
which.

A sampled world becomes a state of the package. The names of classes, keywords and values are from its version 0.0.48.
What the engine does not know (an item, an ability, a move), it takes as none by itself.
"""

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

import numpy as np
import structlog
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Decisions
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.protocol import Sample, Sampled, SampledSeat
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy
from nashdex.policies.search.searching import Searching, search_roots

STATUSES: Final = {
    "": "none",
    "brn": "burn",
    "slp": "sleep",
    "frz": "freeze",
    "par": "paralyze",
    "psn": "poison",
    "tox": "toxic",
}
_WEATHERS: Final = {
    "sunnyday": "sun",
    "raindance": "rain",
    "sandstorm": "sand",
    "hail": "hail",
    "snowscape": "snow",
    "snow": "snow",
    "desolateland": "harshsun",
    "primordialsea": "heavyrain",
}
_TERRAINS: Final = frozenset({"grassyterrain", "electricterrain", "mistyterrain", "psychicterrain"})
_LAYERS: Final = {
    "spikes": "spikes",
    "toxicspikes": "toxic_spikes",
    "stealthrock": "stealth_rock",
    "stickyweb": "sticky_web",
}
_SCREENS: Final = {
    "auroraveil": "aurora_veil",
    "lightscreen": "light_screen",
    "luckychant": "lucky_chant",
    "mist": "mist",
    "reflect": "reflect",
    "safeguard": "safeguard",
    "tailwind": "tailwind",
}
"""Conditions that end by themselves: the engine counts the turns that are left."""
_STATS: Final = {
    "attack": "atk",
    "defense": "def",
    "special_attack": "spa",
    "special_defense": "spd",
    "speed": "spe",
}
_BOOSTS: Final = _STATS | {"accuracy": "accuracy", "evasion": "evasion"}
_EVS: Final = ("hp", "atk", "def", "spa", "spd", "spe")
_COUNTED_UP: Final = ("confusion", "encore", "lockedmove", "taunt", "yawn")
"""Conditions whose past turns the engine counts, up to 2 (Yawn: 1)."""
_NO_END: Final = -1
_MAX_REST_TURNS: Final = 3
_FIRST_OF_WEAK_HIDDEN_POWER: Final = 6
"""Generation since which Hidden Power has 60 power; before, the engine has it with 70."""


def make_state(engine: ModuleType, world: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a class of the package
    """Return a world of ``protocol.Sampled`` as the engine's ``State``, the seat as its side one."""
    weather, terrain = world["weather"], world["terrain"]
    has_terrain = terrain is not None and terrain["id"] in _TERRAINS
    has_weather = weather is not None and weather["id"] in _WEATHERS
    return engine.State(
        side_one=_side(engine, world["own"], world["generation"]),
        side_two=_side(engine, world["opponent"], world["generation"]),
        weather=_WEATHERS[weather["id"]] if has_weather else "none",
        weather_turns_remaining=(weather["turns"] or _NO_END) if has_weather else 0,
        terrain=terrain["id"] if has_terrain else "none",
        terrain_turns_remaining=(terrain["turns"] or _NO_END) if has_terrain else 0,
        trick_room=world["trick_room"] is not None,
        trick_room_turns_remaining=world["trick_room"] or 0,
        team_preview=world["team_preview"],
    )


def move_name(move: str, pokemon: Mapping[str, Any], generation: int) -> str:
    """Return the engine's name of a Pokémon's move, given the simulator's id."""
    if move == "hiddenpower":
        return f"{move}{pokemon['hidden_power']}{60 if generation >= _FIRST_OF_WEAK_HIDDEN_POWER else 70}"
    return move


def _side(engine: ModuleType, side: Mapping[str, Any], generation: int) -> Any:  # noqa: ANN401
    active = side["pokemon"][side["active"]]
    # The engine itself asks for a replacement of what fainted; this is for moves such as U-turn.
    leaves = side["force_switch"] and active["hp"] > 0
    return engine.Side(
        pokemon=[_pokemon(engine, pokemon, generation) for pokemon in side["pokemon"]],
        active_index=str(side["active"]),
        baton_passing=leaves and side["last_move"] == "batonpass",
        shed_tailing=leaves and side["last_move"] == "shedtail",
        volatile_status_durations=_durations(engine, side["volatiles"]),
        force_switch=leaves,
        force_trapped=side["trapped"],
        volatile_statuses={_volatile(name, known) for name, known in side["volatiles"].items()},
        substitute_health=side["substitute_hp"],
        last_used_move=_last_used(side["last_move"], active),
        side_conditions=_conditions(engine, side, active),
        **{f"{name}_boost": side["boosts"].get(boost, 0) for name, boost in _BOOSTS.items()},
    )


def _volatile(name: str, known: Mapping[str, Any]) -> str:
    if name == "perishsong":
        return f"perish{known['left']}"
    return f"{name}{known['stat']}" if known["stat"] else name


def _durations(engine: ModuleType, volatiles: Mapping[str, Any]) -> Any:  # noqa: ANN401
    most = dict.fromkeys(_COUNTED_UP, 2) | {"yawn": 1}
    passed = {name: min(volatiles[name]["passed"], most[name]) for name in _COUNTED_UP if name in volatiles}
    slow_start = volatiles.get("slowstart", {"left": 0})["left"] or 0
    return engine.VolatileStatusDurations(**passed, slowstart=slow_start)


def _last_used(move: str, active: Mapping[str, Any]) -> str:
    places = [place for place, known in enumerate(active["moves"]) if known["id"] == move]
    return f"move:{places[0]}" if places else "move:none"


def _conditions(engine: ModuleType, side: Mapping[str, Any], active: Mapping[str, Any]) -> Any:  # noqa: ANN401
    known = side["conditions"]
    layers = {name: known[condition]["layers"] for condition, name in _LAYERS.items() if condition in known}
    turns = {name: known[condition]["turns"] or 1 for condition, name in _SCREENS.items() if condition in known}
    # The next Protect is likelier to fail after one that worked.
    return engine.SideConditions(
        **layers, **turns, toxic_count=active["toxic_turns"], protect=int("stall" in side["volatiles"])
    )


def _pokemon(engine: ModuleType, pokemon: Mapping[str, Any], generation: int) -> Any:  # noqa: ANN401
    rests = pokemon["is_resting"]
    return engine.Pokemon(
        id=pokemon["species"],
        level=pokemon["level"],
        types=_two(pokemon["types"]),
        base_types=_two(pokemon["base_types"]),
        hp=pokemon["hp"],
        maxhp=pokemon["max_hp"],
        ability=pokemon["ability"] or "none",
        base_ability=pokemon["base_ability"] or "none",
        item=pokemon["item"] or "none",
        nature=pokemon["nature"] or "serious",
        evs=tuple(pokemon["evs"].get(stat, 0) for stat in _EVS),
        status=STATUSES[pokemon["status"]],
        rest_turns=min(pokemon["sleep_left"], _MAX_REST_TURNS) if rests else 0,
        sleep_turns=0 if rests else pokemon["sleep_turns"],
        weight_kg=pokemon["weight_kg"],
        moves=[
            engine.Move(id=move_name(move["id"], pokemon, generation), pp=move["pp"], disabled=move["disabled"])
            for move in pokemon["moves"]
        ],
        mega_evolved=pokemon["is_mega"],
        terastallized=pokemon["is_terastallized"],
        tera_type=pokemon["tera_type"] or "typeless",
        **{name: pokemon["stats"][stat] for name, stat in _STATS.items()},
    )


def _two(types: list[str]) -> tuple[str, str]:
    first, second, *_ = [*types, "typeless", "typeless"]
    return first, second


_log = structlog.get_logger()
_PACKAGE: Final = "poke_engine"
_USED: Final = (
    "State",
    "Side",
    "SideConditions",
    "Pokemon",
    "Move",
    "VolatileStatusDurations",
    "monte_carlo_tree_search",
)
_SUFFIXES: Final = {"": "", "mega": "-mega", "terastallize": "-tera"}
"""What the engine appends to a move, by the simulator's word. It has neither Z-moves nor Dynamax."""


class PokeEnginePlayer(Searching, ScriptedPlayer):
    """Asks the engine in ``worlds`` worlds, for ``milliseconds`` in all. Its choices depend on the machine."""

    def __init__(self, space: Space, worlds: int, milliseconds: float) -> None:
        """Raise ConfigurationError if the package is missing or has another interface."""
        super().__init__(space)
        self._engine = _installed()
        self._worlds = worlds
        self._milliseconds = milliseconds
        self.illegal = 0
        """Number of answers with an illegal best choice; the best legal one was played instead."""
        self.failed = 0
        """Worlds that the engine did not accept."""

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its uniform number seeds the worlds, and draws an action where the engine has none."""
        rows = self._gateway.rows(decisions, search_roots(uniforms))
        sample = Sample(rows=rows, worlds=self._worlds, teams=self._gateway.teams)
        action = np.empty(len(decisions), dtype=np.int64)
        probability = np.ones(len(decisions))
        for row, found in enumerate(self._gateway.ask(sample, Sampled).rows):
            legal = decisions.legal[row].astype(np.int64)
            request = decisions.lines[found.battle, found.seat].request
            chosen = int(legal[0]) if len(legal) == 1 else self._search(found, request, set(legal.tolist()))
            if chosen is None:
                action[row], probability[row] = legal[int(uniforms[row] * len(legal))], 1.0 / len(legal)
            else:
                action[row] = chosen
        return Actions(action, np.log(probability).astype(np.float32))

    def _search(self, found: SampledSeat, request: dict[str, Any], legal: set[int]) -> int | None:
        """Return the legal action that the engine visits most, or None if it has none."""
        if found.cause is not None:
            _log.warning("a position was not searched", cause=found.cause.partition("\n")[0])
            return None
        visits: dict[str, float] = {}
        for world in found.worlds:
            for choice, share in self._shares(world).items():
                visits[choice] = visits.get(choice, 0.0) + share
        if not visits:
            return None
        actions = _actions(found, request)
        answers = sorted(visits, key=lambda choice: -visits[choice])
        playable = [actions[choice] for choice in answers if actions.get(choice) in legal]
        if actions.get(answers[0]) not in legal:
            self.illegal += 1
            _log.warning("poke-engine's choice is not legal", choice=answers[0], count=self.illegal)
        return playable[0] if playable else None

    def _shares(self, world: dict[str, Any]) -> dict[str, float]:
        """Return the share of visits of each choice in one world; empty if the engine does not accept the world."""
        duration = max(1, round(self._milliseconds / self._worlds))
        try:
            result = self._engine.monte_carlo_tree_search(make_state(self._engine, world), duration_ms=duration)
        except BaseException as error:
            # A panic in Rust is no Exception, and its class cannot be imported.
            if (
                not isinstance(error, OverflowError | TypeError | ValueError)
                and type(error).__name__ != "PanicException"
            ):
                raise
            self.failed += 1
            _log.warning("poke-engine did not accept a world", error=str(error).partition("\n")[0], count=self.failed)
            return {}
        total = sum(option.visits for option in result.side_one)
        return {option.move_choice: option.visits / total for option in result.side_one} if total else {}


def _actions(found: SampledSeat, request: dict[str, Any]) -> dict[str, int]:
    """Return the action of each choice, in the engine's words."""
    own, generation = found.worlds[0]["own"], found.worlds[0]["generation"]
    actions: dict[str, int] = {}
    for action, text in found.choices.items():
        kind, _, rest = text.partition(" ")
        if kind == "move":
            number, _, suffix = rest.partition(" ")
            if suffix not in _SUFFIXES:
                continue
            move = request["active"][0]["moves"][int(number) - 1]["id"]
            name = move_name(move, own["pokemon"][own["active"]], generation) + _SUFFIXES[suffix]
        else:
            # "switch 3", or "team 3, 1, 2": the leader comes first.
            name = f"switch {own['pokemon'][int(rest.partition(',')[0]) - 1]['species']}"
        actions.setdefault(name, int(action))
    return actions


def _installed() -> ModuleType:
    try:
        engine = importlib.import_module(_PACKAGE)
    except ImportError as error:
        raise ConfigurationError(
            f"search:poke-engine needs the package poke-engine, which cannot be imported here ({error}): install it, "
            "built for the format's generation (docs/reference/search.md), or play search:matrix"
        ) from error
    missing = [name for name in _USED if not hasattr(engine, name)]
    if missing:
        raise ConfigurationError(
            f"search:poke-engine needs the interface of poke-engine 0.0.48, and the installed package has no "
            f"{', '.join(missing)}: install that version (docs/reference/search.md)"
        )
    return engine


def _player(space: Space, worlds: float, milliseconds: float) -> ScriptedPlayer:
    return PokeEnginePlayer(space, int(worlds), milliseconds)


POKE_ENGINE: Final = ScriptedPolicy(
    _player,
    games=frozenset({SHOWDOWN}),
    needs_lines=True,
    parameters={"worlds": 4, "milliseconds": 1000.0},
    max_concurrent_battles=1,
)
"""The search of the package poke-engine, for a second; refused where the package is not installed."""
