"""Sampled worlds as states of the package ``poke-engine``.

The names of classes, keywords and values are from its version 0.0.48. What the engine does not know (an item, an
ability, a move), it takes as none by itself.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

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
