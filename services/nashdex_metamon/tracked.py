"""Metamon's state of a decision, from the gateway's tracker and the lines of a battle."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from nashdex_metamon.appearance import STATS, Appearance
from nashdex_metamon.conditions import Conditions
from nashdex_metamon.dex import Dex
from nashdex_metamon.names import (
    NO_ABILITY,
    NO_EFFECT,
    NO_STATUS,
    NO_TYPE,
    ability_name,
    clean_no_numbers,
    item_name,
    type_words,
)
from nashdex_metamon.state import MISSING_MOVE, TEAM_SIZE, BattleState, MoveState, PokemonState

Knowledge = Literal["online", "known"]
"""What a state shows. ``online``: as in metamon's own play, where PP stay full, an own Pokémon's tera type is hidden
until it terastallizes, and an item that an opponent lost is unknown. ``known``: all that the seat knows, as in replays
that metamon parsed."""

_SIDES: Final = ("p1", "p2")
_FIRST_WITH_ITEMS: Final = 2
_FAINTED: Final = "fnt"
_LAST_WITHOUT_ABILITIES: Final = 2


def battle_state(
    format_id: str,
    seat: int,
    tracked: Mapping[str, Any],
    conditions: Conditions,
    dex: Dex,
    knowledge: Knowledge = "online",
) -> BattleState:
    """Return what ``seat`` sees.

    Args:
        format_id: the format's id.
        seat: 0 or 1.
        tracked: the tracker's state of the seat (docs/reference/tracker.md).
        conditions: all lines of the battle up to now.
        dex: the format's generation.
        knowledge: what of it the state shows.
    """
    own, opponent = tracked["own"], tracked["opponent"]
    own_side, opponent_side = _SIDES[seat], _SIDES[1 - seat]
    reviving = tracked["reviving"]
    active = _pokemon(own["pokemon"][own["active"]], dex, conditions.effect(own_side), knowledge, is_own=True)
    foe = _pokemon(
        opponent["pokemon"][opponent["active"]], dex, conditions.effect(opponent_side), knowledge, is_own=False
    )
    bench = [
        _pokemon(pokemon, dex, NO_EFFECT, knowledge, is_own=True)
        for row, pokemon in enumerate(own["pokemon"])
        if row != own["active"] and pokemon["fainted"] == reviving
    ]
    if knowledge == "online":
        seen, opposing = (conditions.appearances.of_side(side) for side in (own_side, opponent_side))
        active = _as_metamon(active, seen, dex, is_own=True)
        foe = _as_metamon(foe, opposing, dex, is_own=False)
        if "transformed" not in own["pokemon"][own["active"]]["volatiles"]:
            active = _with_copied(active, seen, dex)
        if "transformed" not in opponent["pokemon"][opponent["active"]]["volatiles"]:
            foe = _with_copied(foe, opposing, dex)
        waiting = [each for row, each in enumerate(own["pokemon"]) if row != own["active"]]
        keys = [f"{own_side}: {each['name']}" for each in waiting if each["fainted"] == reviving]
        bench = [
            _with_copied(pokemon, conditions.appearances.pokemon[key], dex)
            for pokemon, key in zip(bench, keys, strict=True)
        ]
    else:
        shown = (conditions.appearances.of_side(opponent_side).name,)
        names = cosmetic_names([opponent["pokemon"][opponent["active"]]], shown, dex)
        foe = replace(foe, name=names.get(foe.name, foe.name))
    names = cosmetic_names(own["pokemon"], conditions.own_names, dex)
    if names:
        active, *bench = (replace(pokemon, name=names.get(pokemon.name, pokemon.name)) for pokemon in (active, *bench))
    winner = conditions.winner
    return BattleState(
        format=format_id,
        player_active_pokemon=active,
        opponent_active_pokemon=foe,
        available_switches=tuple(bench),
        player_prev_move=_last_move(active, conditions.last_move(own_side), dex),
        opponent_prev_move=_last_move(foe, conditions.last_move(opponent_side), dex),
        opponents_remaining=TEAM_SIZE - sum(pokemon["fainted"] for pokemon in opponent["pokemon"]),
        player_conditions=conditions.side_condition(own_side),
        opponent_conditions=conditions.side_condition(opponent_side),
        weather=clean_no_numbers(conditions.weather),
        battle_field=conditions.field_name,
        forced_switch=tracked["force_switch"],
        battle_won=winner is not None and winner == conditions.players.get(own_side),
        battle_lost=winner is not None and winner == conditions.players.get(opponent_side),
        can_tera=tracked["can_tera"],
        opponent_teampreview=tuple(dex.species(name).base_species for name in conditions.preview[opponent_side]),
    )


def _pokemon(pokemon: Mapping[str, Any], dex: Dex, effect: str, knowledge: Knowledge, *, is_own: bool) -> PokemonState:
    is_copy = "transformed" in pokemon["volatiles"]
    # A Pokémon that transformed keeps its name and ability, and takes the rest.
    species = dex.species(pokemon["species" if is_copy else "forme"])
    stats = dex.species(pokemon["forme"]).base_stats
    boosts = pokemon["boosts"]
    ability = pokemon["base_ability" if is_copy else "ability"]
    shows_all = knowledge == "known"
    item = pokemon["item"]
    if is_own:
        # In play an own item is always known; a log may not show it.
        item = "" if item is None and dex.generation < _FIRST_WITH_ITEMS else item
    elif not shows_all:
        item = item or None
    shows_tera = pokemon["terastallized"] or (is_own and shows_all)
    return PokemonState(
        name=species.name,
        hp_pct=0.0 if pokemon["fainted"] else pokemon["hp"] / pokemon["max_hp"],
        types=type_words(pokemon["types"]),
        item=item_name(item),
        ability=ability_name(ability or (None if dex.generation > _LAST_WITHOUT_ABILITIES else "")),
        lvl=pokemon["level"],
        status=_FAINTED if pokemon["fainted"] else pokemon["status"] or NO_STATUS,
        effect=effect,
        moves=tuple(_move(dex, move["id"], move["pp"] if shows_all else None) for move in pokemon["moves"]),
        atk_boost=boosts["atk"],
        spa_boost=boosts["spa"],
        def_boost=boosts["def"],
        spd_boost=boosts["spd"],
        spe_boost=boosts["spe"],
        accuracy_boost=boosts["accuracy"],
        evasion_boost=boosts["evasion"],
        base_atk=stats["atk"],
        base_spa=stats["spa"],
        base_def=stats["def"],
        base_spd=stats["spd"],
        base_spe=stats["spe"],
        base_hp=stats["hp"],
        tera_type=(clean_no_numbers(pokemon["tera"]) or NO_TYPE) if shows_tera else NO_TYPE,
        base_species=species.base_species,
    )


def cosmetic_names(team: Sequence[Mapping[str, Any]], shown: Sequence[str], dex: Dex) -> dict[str, str]:
    """Return the names with cosmetic formes, such as ``unownexclamation``, by the tracker's names.

    Args:
        team: Pokémon as the tracker has them.
        shown: species of the same side by id, with cosmetic formes; "" for one that is unknown.
        dex: the format's generation.
    """
    formes = {pokemon["forme"] for pokemon in team}
    bases = {name: dex.species(name).base_species for name in shown if name and name not in formes}
    return {base: name for name, base in bases.items() if base in formes}


def _as_metamon(pokemon: PokemonState, seen: Appearance, dex: Dex, *, is_own: bool) -> PokemonState:
    """Return an active Pokémon with metamon's ignorance: what its code reads from the lines."""
    boosts: dict[str, Any] = {f"{stat}_boost": seen.boosts[stat] for stat in STATS}
    if pokemon.status == _FAINTED and seen.tera:
        pokemon = replace(pokemon, types=type_words((seen.tera,)), tera_type=seen.tera)
    ability = pokemon.ability if pokemon.ability == NO_ABILITY else ability_name(seen.shown_ability)
    if is_own:
        return replace(pokemon, **boosts, ability=ability)
    moves = tuple(_move(dex, move) for move in seen.moves) if seen.has_transformed else pokemon.moves
    return replace(
        pokemon, **boosts, name=seen.name or pokemon.name, ability=ability, item=item_name(seen.item), moves=moves
    )


def _with_copied(pokemon: PokemonState, seen: Appearance, dex: Dex) -> PokemonState:
    """Return a Pokémon with the base stats and types that it copied, which metamon's code keeps when it leaves."""
    if not seen.copied:
        return pokemon
    species = dex.species(seen.copied)
    stats: dict[str, Any] = {f"base_{stat}": value for stat, value in species.base_stats.items()}
    return replace(pokemon, **stats, types=pokemon.types if seen.tera else species.types)


def _move(dex: Dex, move: str, pp: int | None = None) -> MoveState:
    """Return a move; full PP if ``pp`` is None."""
    facts = dex.move(move)
    return MoveState(
        name=facts.name,
        move_type=facts.type,
        category=facts.category,
        base_power=facts.base_power,
        accuracy=facts.accuracy,
        priority=facts.priority,
        current_pp=facts.max_pp if pp is None else pp,
        max_pp=facts.max_pp,
    )


def _last_move(pokemon: PokemonState, move: str | None, dex: Dex) -> MoveState:
    if move is None:
        return MISSING_MOVE
    last = _move(dex, move)
    return next((known for known in pokemon.moves if known.name == last.name), last)
