"""Features that both the gateway's tracker and poke-env's battle know, in the same terms."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from poke_env.battle import Battle, DoubleBattle, Effect, Field, Pokemon, PokemonType, SideCondition, Status, Weather
from poke_env.data import GenData, to_id_str
from poke_env.environment import SinglesEnv

from audits.tracker import doubles
from audits.tracker.compared import Compared

_WEATHERS: Final = {Weather.SNOWSCAPE: "snowscape"}
_EFFECTS: Final = {
    "substitute": Effect.SUBSTITUTE,
    "confusion": Effect.CONFUSION,
    "leechseed": Effect.LEECH_SEED,
    "focusenergy": Effect.FOCUS_ENERGY,
    "disable": Effect.DISABLE,
    "bide": Effect.BIDE,
    "reflect": Effect.REFLECT,
    "attract": Effect.ATTRACT,
    "curse": Effect.CURSE,
    "encore": Effect.ENCORE,
    "destinybond": Effect.DESTINY_BOND,
    "trapped": Effect.TRAPPED,
    "charge": Effect.CHARGE,
    "flashfire": Effect.FLASH_FIRE,
    "imprison": Effect.IMPRISON,
    "ingrain": Effect.INGRAIN,
    "taunt": Effect.TAUNT,
    "torment": Effect.TORMENT,
    "yawn": Effect.YAWN,
    "aquaring": Effect.AQUA_RING,
    "healblock": Effect.HEAL_BLOCK,
    "magnetrise": Effect.MAGNET_RISE,
    "slowstart": Effect.SLOW_START,
    "smackdown": Effect.SMACK_DOWN,
    "throatchop": Effect.THROAT_CHOP,
    "noretreat": Effect.NO_RETREAT,
    "tarshot": Effect.TAR_SHOT,
    "saltcure": Effect.SALT_CURE,
    "syrupbomb": Effect.SYRUP_BOMB,
    "glaiverush": Effect.GLAIVE_RUSH,
    "minimize": Effect.MINIMIZE,
    **{f"paradox{stat}": Effect[f"PROTOSYNTHESIS{stat.upper()}"] for stat in ("atk", "def", "spa", "spd", "spe")},
}
"""Volatiles that both know, by the tracker's names."""
_FIRST_GENERATION_EFFECTS: Final = {"mist": Effect.MIST}
"""In later generations poke-env's effect covers more than the volatile."""
_PARADOX_TWINS: Final = {f"paradox{s}": Effect[f"QUARKDRIVE{s.upper()}"] for s in ("atk", "def", "spa", "spd", "spe")}
_BOUND: Final = (Effect.BIND, Effect.CLAMP, Effect.FIRE_SPIN, Effect.INFESTATION, Effect.MAGMA_STORM, Effect.SAND_TOMB,
                 Effect.SNAP_TRAP, Effect.THUNDER_CAGE, Effect.WHIRLPOOL, Effect.WRAP)  # fmt: skip
_PERISH: Final = {Effect.PERISH3: 1, Effect.PERISH2: 2, Effect.PERISH1: 3, Effect.PERISH0: 4}
_STOCKPILE: Final = {Effect.STOCKPILE1: 1, Effect.STOCKPILE2: 2, Effect.STOCKPILE3: 3}


def features(
    battle: Battle | DoubleBattle, state: Mapping[str, Any], request: Mapping[str, Any], legal: NDArray[np.uint16]
) -> Iterator[Compared]:
    """Yield every feature that both know, in the same terms; ``legal`` are the action numbers of the frame."""
    yield Compared("turn", state["turn"], battle.turn, state)
    yield Compared("reviving", state["reviving"], battle.reviving, state)
    yield Compared("mask", sorted(int(action) for action in state["choices"]), legal.tolist(), state)
    if isinstance(battle, DoubleBattle):
        yield from doubles.request_features(battle, state)
        yield from doubles.active_features(battle, state)
        yield from doubles.choice_features(battle, state)
    else:
        yield from _request_features(battle, state)
        yield from _choice_features(battle, state, request)
    yield from _field_features(battle, state)
    for name, team, conditions, used_tera in (
        ("own", battle.team, battle.side_conditions, battle.used_tera),
        ("opponent", battle.opponent_team, battle.opponent_side_conditions, battle.opponent_used_tera),
    ):
        side = state[name]
        yield Compared(f"{name}.used_tera", side["used_tera"], used_tera, state)
        yield from _condition_features(name, side["conditions"], conditions, state)
        by_name = {pokemon.name: pokemon for pokemon in team.values()}
        yield _order(name, side["pokemon"], team.values(), battle, state)
        for entry in side["pokemon"]:
            if entry["name"] in by_name:
                yield from _pokemon_features(name, entry, by_name[entry["name"]], state)


def _request_features(battle: Battle, state: Mapping[str, Any]) -> Iterator[Compared]:
    yield Compared("force_switch", state["force_switch"], bool(battle.force_switch), state)
    yield Compared("trapped", state["trapped"], bool(battle.trapped), state)
    yield Compared("maybe_trapped", state["maybe_trapped"], battle.maybe_trapped, state)
    for gimmick, theirs in (
        ("can_mega", battle.can_mega_evolve),
        ("can_z_move", battle.can_z_move),
        ("can_dynamax", battle.can_dynamax),
        ("can_tera", battle.can_tera),
    ):
        yield Compared(gimmick, state[gimmick], theirs, state)


def _order(
    name: str,
    rows: list[Mapping[str, Any]],
    team: Collection[Pokemon],
    battle: Battle | DoubleBattle,
    state: Mapping[str, Any],
) -> Compared:
    """Compare the Pokémon of a side, in the order in which both number them.

    poke-env begins an opponent's team again after the preview: then both orders differ, and the tracker has rows of
    Pokémon that have not come in, whose names nobody knows.
    """
    if name == "own" or not battle.teampreview_opponent_team:
        return Compared(f"{name}.order", [row["name"] for row in rows], [pokemon.name for pokemon in team], state)
    if state["team_preview"]:
        species = [_species(pokemon, row["species"]) for pokemon, row in zip(team, rows, strict=True)]
        return Compared(f"{name}.preview", [row["species"] for row in rows], species, state)
    ours = sorted(row["name"] for row in rows if row["name"])
    return Compared(f"{name}.order", ours, sorted(pokemon.name for pokemon in team), state)


def _field_features(battle: Battle | DoubleBattle, state: Mapping[str, Any]) -> Iterator[Compared]:
    weather = next(iter(battle.weather), None)
    ours = state["weather"]
    yield Compared("weather", ours["id"] if ours else "", _weather_id(weather), state)
    if ours and weather:
        yield Compared("weather.since", ours["since"], battle.weather[weather], state)
    fields = {_condition_id(known): since for known, since in battle.fields.items()}
    terrain = state["terrain"]
    mine = dict(state["rooms"]) | ({terrain["id"]: terrain["since"]} if terrain else {})
    yield Compared("fields", sorted(mine), sorted(fields), state)
    for condition, since in mine.items():
        if condition in fields:
            yield Compared("fields.since", since, fields[condition], state)


def _weather_id(weather: Weather | None) -> str:
    return "" if weather is None else _WEATHERS.get(weather, weather.name.lower())


def _condition_id(condition: Field | SideCondition) -> str:
    return condition.name.lower().replace("_", "")


def _condition_features(
    name: str, ours: Mapping[str, Any], conditions: Mapping[SideCondition, int], state: Mapping[str, Any]
) -> Iterator[Compared]:
    theirs = {_condition_id(condition): value for condition, value in conditions.items()}
    yield Compared(f"{name}.conditions", sorted(ours), sorted(theirs), state)
    for condition, entry in ours.items():
        if condition in theirs:
            stacks = condition in {"spikes", "toxicspikes"}
            value = entry["layers"] if stacks else entry["since"]
            feature = f"{name}.conditions.{'layers' if stacks else 'since'}"
            yield Compared(feature, value, theirs[condition], state)


def _choice_features(battle: Battle, state: Mapping[str, Any], request: Mapping[str, Any]) -> Iterator[Compared]:
    """Compare what is legal, and what each action number means, in the simulator's terms."""
    ours = {int(action): _named_choice(choice, request) for action, choice in state["choices"].items()}
    if state["team_preview"]:
        # poke-env's environment chooses no lead: an action is the row of its team that leads.
        leads = {row: f"switch {pokemon.name}" for row, pokemon in enumerate(battle.team.values())}
        yield Compared("choices", sorted(ours.values()), sorted(leads.values()), state)
        yield Compared("action_numbers", ours, leads, state)
        return
    theirs = {}
    for action in np.flatnonzero(SinglesEnv.get_action_mask(battle)):
        order = SinglesEnv.action_to_order(np.int64(action), battle, fake=True)
        kind, name, *gimmick = order.message.removeprefix("/choose ").replace("move 1", "move recharge").split(" ")
        theirs[int(action)] = " ".join([kind, _plain(name) if kind == "move" else name, *gimmick])
    yield Compared("choices", sorted(ours.values()), sorted(theirs.values()), state)
    if sorted(ours.values()) == sorted(theirs.values()):
        yield Compared("action_numbers", ours, theirs, state)


def _named_choice(choice: str, request: Mapping[str, Any]) -> str:
    """Return a numbered choice with names instead of numbers."""
    kind, number, *gimmick = choice.replace(",", "").split()
    if kind in {"switch", "team"}:
        return f"switch {request['side']['pokemon'][int(number) - 1]['ident'][4:]}"
    return " ".join([kind, _plain(request["active"][0]["moves"][int(number) - 1]["id"]), *gimmick])


def _plain(move: str) -> str:
    """Return a move's id without what requests and names add: the type of a Hidden Power, and powers."""
    return "hiddenpower" if move.startswith("hiddenpower") else move.rstrip("0123456789")


def _pokemon_features(
    name: str, entry: Mapping[str, Any], pokemon: Pokemon, state: Mapping[str, Any]
) -> Iterator[Compared]:
    generation = state["generation"]

    def compared(feature: str, tracker: object, poke_env: object) -> Compared:
        return Compared(f"{name}.{feature}", tracker, poke_env, entry, pokemon)

    yield compared("species", entry["species"], _species(pokemon, entry["species"]))
    yield compared("level", entry["level"], pokemon.level)
    yield compared("hp", [entry["hp"], entry["max_hp"]], [pokemon.current_hp, pokemon.max_hp])
    status = pokemon.status
    yield compared("fainted", entry["fainted"], status == Status.FNT)
    yield compared("status", entry["status"], "" if status in {None, Status.FNT} else status.name.lower())
    if not state["team_preview"]:  # the request marks the first, though nobody has come in
        yield compared("active", entry["active"], bool(pokemon.active))
    yield compared("boosts", entry["boosts"], {stat: pokemon.boosts[stat] for stat in entry["boosts"]})
    yield compared("types", sorted(entry["types"]), _type_names(pokemon))
    yield compared("terastallized", entry["terastallized"], pokemon.is_terastallized)
    if entry["terastallized"] and pokemon.tera_type:
        yield compared("tera", entry["tera"], pokemon.tera_type.name.lower())
    if generation >= 2:
        item = pokemon.item
        yield compared("item", entry["item"], None if item == GenData.UNKNOWN_ITEM else item or "")
    if generation >= 3:
        yield compared("ability", entry["ability"], "" if pokemon.ability in {None, "noability"} else pokemon.ability)
    if name == "own":
        stats = {stat: value for stat, value in pokemon.stats.items() if value is not None}
        yield compared("stats", {stat: entry["stats"][stat] for stat in stats}, stats)
    moves = {_plain(move): known for move, known in pokemon.moves.items()}
    yield compared("moves", sorted(_plain(move["id"]) for move in entry["moves"]), sorted(moves))
    for move in entry["moves"]:
        if theirs := moves.get(_plain(move["id"])):
            yield compared("pp", [move["id"], move["pp"]], [move["id"], theirs.current_pp])
            yield compared("max_pp", [move["id"], move["max_pp"]], [move["id"], theirs.max_pp])
    if entry["active"]:
        yield from _volatile_features(name, entry, pokemon, generation)


def _type_names(pokemon: Pokemon) -> list[str]:
    """Return the known types."""
    return sorted(kind.name.lower() for kind in pokemon.types if kind is not PokemonType.THREE_QUESTION_MARKS)


def _species(pokemon: Pokemon, expected: str) -> str:
    """Return poke-env's species; a forme that differs in nothing but looks may count as the species itself."""
    if pokemon.species == expected:
        return expected
    dex = GenData.from_gen(pokemon.gen).pokedex
    base = dex[pokemon.base_species]
    looks = {to_id_str(forme) for forme in base.get("cosmeticFormes", [])}
    return pokemon.base_species if pokemon.species in looks else pokemon.species


def _volatile_features(name: str, entry: Mapping[str, Any], pokemon: Pokemon, generation: int) -> Iterator[Compared]:
    ours = entry["volatiles"]
    effects = pokemon.effects
    known = _EFFECTS | (_FIRST_GENERATION_EFFECTS if generation == 1 else {})
    for volatile, effect in known.items():
        theirs = effect in effects or _PARADOX_TWINS.get(volatile) in effects
        yield Compared(f"{name}.volatile.{volatile}", volatile in ours, theirs, entry, pokemon)
    bound = any(effect in effects for effect in _BOUND)
    perish = max((count for effect, count in _PERISH.items() if effect in effects), default=0)
    stockpile = max((count for effect, count in _STOCKPILE.items() if effect in effects), default=0)
    for volatile, count, other in (
        ("bound", "bound" in ours, bound),
        ("perish", ours.get("perish", 0), perish),
        ("stockpile", ours.get("stockpile", 0), stockpile),
        ("recharge", "recharge" in ours, pokemon.must_recharge),
        ("transformed", "transformed" in ours, pokemon.transformed),
    ):
        yield Compared(f"{name}.volatile.{volatile}", count, other, entry, pokemon)
    preparing = pokemon.preparing_move.id if pokemon.preparing_move else ""
    yield Compared(f"{name}.prepared", entry["prepared"], preparing, entry, pokemon)
