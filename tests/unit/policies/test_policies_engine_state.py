"""Worlds in poke-engine's words, by the stand-in that has the package's constructors."""

from copy import deepcopy
from typing import Any

import pytest

from nashdex.policies.search.engine import make_state, move_name
from support.stand_in import poke_engine

STATS = dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 200)


def _pokemon(species: str, **known: object) -> dict[str, Any]:
    return {
        "species": species,
        "level": 80,
        "types": ["water"],
        "base_types": ["water"],
        "hp": 250,
        "max_hp": 300,
        "stats": STATS,
        "evs": {"hp": 84, "atk": 84},
        "nature": "",
        "ability": "",
        "base_ability": "torrent",
        "item": "",
        "status": "",
        "is_resting": False,
        "sleep_turns": 0,
        "sleep_left": 0,
        "toxic_turns": 0,
        "weight_kg": 85.5,
        "is_mega": False,
        "tera_type": "",
        "is_terastallized": False,
        "hidden_power": "ice",
        "moves": [
            {"id": "uturn", "pp": 20, "disabled": False},
            {"id": "hiddenpower", "pp": 3, "disabled": True},
        ],
        **known,
    }


def _side(**known: object) -> dict[str, Any]:
    return {
        "active": 1,
        "force_switch": False,
        "trapped": False,
        "last_move": "",
        "conditions": {},
        "boosts": {"atk": 2, "evasion": -1},
        "volatiles": {},
        "substitute_hp": 0,
        "pokemon": [_pokemon("golduck"), _pokemon("blastoise")],
        **known,
    }


def _world(own: dict[str, Any] | None = None, **known: object) -> dict[str, Any]:
    return {
        "generation": 4,
        "team_preview": False,
        "weather": None,
        "terrain": None,
        "trick_room": None,
        "own": own or _side(),
        "opponent": _side(),
        **known,
    }


def _own(**known: object) -> poke_engine.Side:
    state = make_state(poke_engine, _world(_side(**known)))
    assert isinstance(state, poke_engine.State)
    return state.side_one


def test_a_pokemon() -> None:
    """What the simulator writes as nothing has a name in the engine, and there are always two types."""
    side = _own()
    pokemon = side.active
    assert (pokemon.id, pokemon.hp, pokemon.maxhp, pokemon.level) == ("blastoise", 250, 300, 80)
    assert (pokemon.types, pokemon.ability, pokemon.base_ability) == (("water", "typeless"), "none", "torrent")
    assert (pokemon.item, pokemon.nature, pokemon.status, pokemon.tera_type) == ("none", "serious", "none", "typeless")
    assert (pokemon.attack, pokemon.speed, pokemon.evs) == (200, 200, (84, 84, 0, 0, 0, 0))
    assert pokemon.moves == [poke_engine.Move("uturn", 20), poke_engine.Move("hiddenpowerice70", 3, disabled=True)]
    assert (side.attack_boost, side.evasion_boost, side.speed_boost) == (2, -1, 0)


@pytest.mark.parametrize(("generation", "name"), [(3, "hiddenpowerice70"), (6, "hiddenpowerice60")])
def test_hidden_power_has_a_type_and_a_power(generation: int, name: str) -> None:
    assert move_name("hiddenpower", _pokemon("golduck"), generation) == name
    assert move_name("surf", _pokemon("golduck"), generation) == "surf"


def test_sleep_is_counted_up_and_rest_down() -> None:
    asleep = _pokemon("golduck", status="slp", sleep_turns=2, sleep_left=3)
    resting = _pokemon("golduck", status="slp", sleep_turns=1, sleep_left=2, is_resting=True)
    side = _own(pokemon=[asleep, resting])
    assert [(p.status, p.sleep_turns, p.rest_turns) for p in side.pokemon] == [("sleep", 2, 0), ("sleep", 0, 2)]


def test_the_active_one_s_conditions() -> None:
    counted = {"left": 2, "passed": 5, "stat": None}
    side = _own(
        volatiles={"perishsong": counted, "quarkdrive": {**counted, "stat": "spe"}, "taunt": counted, "yawn": counted},
        last_move="hiddenpower",
        substitute_hp=75,
        pokemon=[_pokemon("golduck"), _pokemon("blastoise", status="tox", toxic_turns=3)],
    )
    assert side.volatile_statuses == {"perish2", "quarkdrivespe", "taunt", "yawn"}
    assert side.volatile_status_durations == poke_engine.VolatileStatusDurations(taunt=2, yawn=1)
    assert (side.last_used_move, side.substitute_health) == ("move:1", 75)
    assert side.side_conditions == poke_engine.SideConditions(toxic_count=3)


def test_hazards_have_layers_and_screens_turns() -> None:
    conditions = {"spikes": {"layers": 2, "turns": None}, "reflect": {"layers": 1, "turns": 4}}
    assert _own(conditions=conditions).side_conditions == poke_engine.SideConditions(spikes=2, reflect=4)


def test_only_one_that_has_not_fainted_is_forced_out() -> None:
    """The engine replaces by itself what has fainted."""
    forced = _own(force_switch=True, last_move="batonpass")
    assert (forced.force_switch, forced.baton_passing) == (True, True)
    fainted = _own(force_switch=True, pokemon=[_pokemon("golduck"), _pokemon("blastoise", hp=0)])
    assert (fainted.force_switch, fainted.baton_passing) == (False, False)


def test_the_field() -> None:
    world = _world(weather={"id": "raindance", "turns": 3}, terrain={"id": "mistyterrain", "turns": 2}, trick_room=4)
    state = make_state(poke_engine, world)
    assert (state.weather, state.weather_turns_remaining) == ("rain", 3)
    assert (state.terrain, state.terrain_turns_remaining) == ("mistyterrain", 2)
    assert (state.trick_room, state.trick_room_turns_remaining) == (True, 4)
    endless, unknown = deepcopy(world), deepcopy(world)
    endless["weather"]["turns"] = None
    unknown["weather"]["id"] = "deltastream"
    assert make_state(poke_engine, endless).weather_turns_remaining == -1
    assert make_state(poke_engine, unknown).weather == "none"
