"""Reasons that only doubles have."""

from collections.abc import Iterable
from typing import Final

from poke_env.environment import DoublesEnv

from audits.tracker.difference import Difference

_FIRST_MOVE: Final = 7
_GROUP_SIZE: Final = 20
_NUM_TARGETS: Final = 5
_NO_TARGET: Final = 2
_Z_MOVE: Final = 2
_Z_MOVE_GENERATION: Final = 7
_DYNAMAX: Final = 3
_NUM_MOVES: Final = 4
_BOTH_PASS: Final = 0


def keeps_preview_active(difference: Difference) -> bool:
    """The request of a Team Preview marks its first two as active; poke-env keeps it if they stay away."""
    brought = {pokemon["ident"].partition(": ")[2] for pokemon in difference.request["side"]["pokemon"]}
    return (
        difference.feature == "own.active"
        and difference.poke_env
        and not difference.tracker
        and difference.state["name"] not in brought
    )


def counts_pokemon_of_sheets(difference: Difference) -> bool:
    """Open Team Sheets show the whole team; poke-env counts all of it, the tracker those that have come in."""
    sheets = [parts for parts in difference.parts() if parts[1:3] == ["showteam", difference.role]]
    return (
        difference.feature == "opponent.order"
        and bool(sheets)
        and len(difference.poke_env) == len("|".join(sheets[0]).split("]"))
        and set(difference.tracker) < set(difference.poke_env)
    )


def offers_targets_of_locked(difference: Difference) -> bool:
    """The simulator takes neither target nor gimmick for a move that goes on, or Struggle; poke-env offers both."""
    if difference.feature != "pairs" or not any(_locked(difference)):
        return False
    pairs = _with_bare_locked_moves(difference)
    return difference.tracker in (sorted(pairs), _without_trapped_switches(difference, pairs))


def _locked(difference: Difference) -> list[bool]:
    """Return for each slot whether the request has one move for it that is not chosen again."""
    return ["pp" not in active["moves"][0] for active in difference.request.get("active", ())]


def _with_bare_locked_moves(difference: Difference) -> set[int]:
    """Return poke-env's pairs without target and gimmick where a move goes on."""
    if not any(_locked(difference)):
        return set(difference.poke_env)
    size = DoublesEnv.get_action_space_size(difference.battle.gen)
    first, second = (_bare if is_locked else int for is_locked in _locked(difference))
    return {size * first(pair // size) + second(pair % size) for pair in difference.poke_env}


def _bare(choice: int) -> int:
    """Return the number of the same move without a gimmick and without a target."""
    if choice < _FIRST_MOVE:
        return choice
    return _FIRST_MOVE + (choice - _FIRST_MOVE) % _GROUP_SIZE // _NUM_TARGETS * _NUM_TARGETS + _NO_TARGET


def offers_switch_of_trapped_slot(difference: Difference) -> bool:
    """As for singles, by numbers of pairs: all that the tracker lacks switches the slot that may be trapped."""
    maybe_trapped = [slot["maybe_trapped"] for slot in difference.battle_state["slots"]]
    return any(maybe_trapped) and difference.tracker == _without_trapped_switches(difference, difference.poke_env)


def _without_trapped_switches(difference: Difference, pairs: Iterable[int]) -> list[int]:
    """Return the pairs that switch no slot that may be trapped, ascending."""
    size = DoublesEnv.get_action_space_size(difference.battle.gen)
    maybe_trapped = [slot["maybe_trapped"] for slot in difference.battle_state["slots"]]
    return sorted(
        pair
        for pair in pairs
        if not any(
            trapped and 0 < choice < _FIRST_MOVE
            for trapped, choice in zip(maybe_trapped, divmod(pair, size), strict=True)
        )
    )


def offers_no_max_moves_of_locked_slot(difference: Difference) -> bool:
    """As for singles, by numbers of pairs: all that poke-env lacks has a slot that dynamaxes, or that is dynamaxed."""
    size = DoublesEnv.get_action_space_size(difference.battle.gen)
    ours, pairs = set(difference.tracker), _with_bare_locked_moves(difference)

    def has_max_move(pair: int) -> bool:
        return any(
            _group(choice) == _DYNAMAX or (choice >= _FIRST_MOVE and difference.has_max_moves(position))
            for position, choice in enumerate(divmod(pair, size))
        )

    return any(
        theirs < ours and all(map(has_max_move, ours - theirs))
        for theirs in (pairs, set(_without_trapped_switches(difference, pairs)))
    )


def aims_z_moves_as_own_moves(difference: Difference) -> bool:
    """A Z-move has targets of its own, which requests list; poke-env offers those of the move that it replaces.

    Tests whether both offer the same pairs but for Z-moves.
    """
    if difference.feature != "pairs" or difference.battle.gen != _Z_MOVE_GENERATION:
        return False
    size = DoublesEnv.get_action_space_size(difference.battle.gen)
    ours, theirs = (
        [pair for pair in pairs if _Z_MOVE not in {_group(pair // size), _group(pair % size)}]
        for pairs in (difference.tracker, difference.poke_env)
    )
    return ours == theirs


def _group(choice: int) -> int:
    """Return a choice's gimmick by number, 0 for none."""
    return max(0, choice - _FIRST_MOVE) // _GROUP_SIZE


def numbers_moves_otherwise(difference: Difference) -> bool:
    """poke-env numbers copied moves as it saw the original use them, and keeps a move that the form has replaced.

    Tests whether an own active Pokémon has transformed, or poke-env gives it five moves.
    """
    if difference.feature != "pairs":
        return False
    side = difference.battle_state["own"]
    active = [side["pokemon"][row] for row in side["slots"] if row >= 0]
    known = {pokemon.name: len(pokemon.moves) for pokemon in difference.battle.team.values()}
    return any("transformed" in entry["volatiles"] or known.get(entry["name"], 0) > _NUM_MOVES for entry in active)


def keeps_replaced_move(difference: Difference) -> bool:
    """A crowned form's Iron Head becomes another move as it first comes in; poke-env gives it both."""
    return (
        difference.feature == "own.moves"
        and len(difference.poke_env) > _NUM_MOVES
        and set(difference.tracker) < set(difference.poke_env)
    )


def misses_pressure_of_field_moves(difference: Difference) -> bool:
    """Pressure also makes moves on the whole field cost more; in doubles poke-env reads the user as their target.

    Tests whether poke-env counts fewer uses, and an opposing Pokémon has Pressure.
    """
    state = difference.battle_state
    foes = state["opponent" if difference.feature.startswith("own.") else "own"]
    return (
        difference.is_about("pp")
        and "slots" in foes
        and difference.tracker[1] < difference.poke_env[1]
        and any("pressure" in {entry["ability"], entry["base_ability"]} for entry in foes["pokemon"])
    )


def misses_pressure_of_partner(difference: Difference) -> bool:
    """In the third and fourth generations, the Pressure of the user's partner costs PP, too; poke-env leaves it out.

    Tests whether poke-env counts fewer uses, and a Pokémon of the user's side has Pressure.
    """
    state = difference.battle_state
    side = state["own" if difference.feature.startswith("own.") else "opponent"]
    return (
        difference.is_about("pp")
        and "slots" in side
        and state["generation"] in {3, 4}
        and difference.tracker[1] < difference.poke_env[1]
        and any(entry["ability"] == "pressure" for entry in side["pokemon"])
    )


def offers_no_pass_of_revival(difference: Difference) -> bool:
    """The simulator lets a player whose bench has fainted pass a Revival Blessing; poke-env does not offer it."""
    return (
        difference.feature == "pairs"
        and any(pokemon.get("reviving") for pokemon in difference.request["side"]["pokemon"])
        and difference.tracker == [_BOTH_PASS, *difference.poke_env]
    )


def presses_beside_the_target(difference: Difference) -> bool:
    """Terapagos aims Tera Starstorm at one foe and hits both: the target's Pressure alone counts; poke-env counts each.

    Tests whether poke-env counts at most one use more for each such line.
    """
    if not difference.is_about("pp") or difference.tracker[0] != "terastarstorm":
        return False
    spread = sum(
        parts[1] == "move"
        and difference.is_named(parts[2])
        and parts[3] == "Tera Starstorm"
        and "[spread]" in parts[-1]
        for parts in difference.parts()
    )
    return bool(0 < difference.tracker[1] - difference.poke_env[1] <= spread)


def presses_in_neutralizing_gas(difference: Difference) -> bool:
    """Neutralizing Gas suspends Pressure; poke-env counts it.

    Tests whether poke-env counts more uses, and there was gas.
    """
    return (
        difference.is_about("pp")
        and difference.tracker[1] > difference.poke_env[1]
        and any(parts[1] == "-ability" and parts[3] == "Neutralizing Gas" for parts in difference.parts())
    )


def mixes_twins(difference: Difference) -> bool:
    """A disguise and the Pokémon that it shows can both be on the field; poke-env takes them for one, which can leave.

    Tests whether both slots have shown the Pokémon at the same time.
    """
    name = (difference.tracker or difference.poke_env) if difference.is_about("slot") else difference.state.get("name")
    if name is None:
        return False
    shown = {}
    for parts in list(difference.parts())[::-1]:
        if parts[1] in {"switch", "drag", "replace"} and parts[2].startswith(difference.role):
            shown[parts[2][:3]] = parts[2].partition(": ")[2]
            if list(shown.values()) == [name, name]:
                return True
        elif parts[1] == "faint":
            shown.pop(parts[2][:3], None)
    return False
