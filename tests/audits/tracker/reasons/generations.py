"""Reasons about generations: poke-env's data of each, and what Mega Evolution, Z-moves and Dynamax change."""

from poke_env.data import GenData, to_id_str

from audits.tracker.difference import Difference
from audits.tracker.reasons.doubles import offers_no_max_moves_of_locked_slot
from audits.tracker.reasons.moves import without_trapped_switches


def lists_later_abilities(difference: Difference) -> bool:
    """poke-env's data of a species have abilities of later generations; a species with one ability has no other.

    Tests whether poke-env knows no ability of a species for which its data list the tracker's among others.
    """
    if difference.feature != "opponent.ability" or difference.poke_env:
        return False
    entry = GenData.from_gen(difference.battle.gen).pokedex.get(difference.state["species"])
    abilities = [to_id_str(name) for name in entry["abilities"].values()] if entry else []
    return len(abilities) > 1 and difference.tracker in abilities


def has_no_lets_go_data(difference: Difference) -> bool:
    """poke-env reads Let's Go by the data of its generation; it has no abilities, and other PP for some moves."""
    return "letsgo" in difference.battle.battle_tag and difference.is_about("ability", "max_pp", "pp")


def has_no_champions_data(difference: Difference) -> bool:
    """poke-env reads the champions formats by the ninth generation's data; there moves have fewer PP."""
    return "champions" in difference.battle.battle_tag and difference.is_about("max_pp", "pp")


def keeps_pp_of_changed_moves(difference: Difference) -> bool:
    """poke-env does not count a Z-move or a Max move as a use of the move that it changes, and reads no PP in requests.

    Tests whether the Pokémon has used such moves at least as often as poke-env misses uses; Pressure doubles one.
    """
    if not difference.feature.endswith(".pp"):
        return False
    missing = difference.poke_env[1] - difference.tracker[1]
    uses = sum(
        parts[1] == "move"
        and difference.is_named(parts[2])
        and ("[zeffect]" in parts or parts[3].startswith(("Max ", "G-Max ", "Z-")))
        for parts in difference.parts()
        if len(parts) > 3
    )
    return bool(0 < missing <= 2 * uses)


def spends_pp_of_each_turn(difference: Difference) -> bool:
    """The second generation does not mark the later turns of a move, and poke-env spends PP for each of them.

    Tests whether the move is one that goes on by itself, and poke-env counts more uses.
    """
    if not difference.feature.endswith(".pp") or difference.battle_state["generation"] != 2:
        return False
    move = GenData.from_gen(2).moves.get(difference.tracker[0], {})
    is_locked = move.get("self", {}).get("volatileStatus") == "lockedmove" or difference.tracker[0] == "rollout"
    lasts = "charge" in move.get("flags", {}) or is_locked
    return bool(lasts and difference.tracker[1] > difference.poke_env[1])


def misses_silent_pressure(difference: Difference) -> bool:
    """The third generation does not announce Pressure to the opponent; requests show what it cost.

    Tests whether poke-env counts fewer uses, and an opposing Pokémon's species can have Pressure.
    """
    if difference.feature != "own.pp" or difference.battle_state["generation"] != 3:
        return False
    dex = GenData.from_gen(3).pokedex
    return bool(difference.tracker[1] < difference.poke_env[1]) and any(
        "Pressure" in dex[entry["species"]]["abilities"].values()
        for entry in difference.battle_state["opponent"]["pokemon"]
        if entry["species"] in dex
    )


def presses_callers(difference: Difference) -> bool:
    """In the third generation, Pressure costs nothing for a called move; poke-env takes PP of the move that called it.

    Tests whether poke-env counts at most one use more for each move that the Pokémon's move has called.
    """
    if not difference.is_about("pp") or difference.battle_state["generation"] != 3:
        return False
    move, left = difference.tracker
    calls = sum(
        parts[1] == "move"
        and difference.is_named(parts[2])
        and any(part.startswith("[from] ") and to_id_str(part[7:].removeprefix("move: ")) == move for part in parts)
        for parts in difference.parts()
    )
    return bool(0 < left - difference.poke_env[1] <= calls)


def misses_stone_of_line(difference: Difference) -> bool:
    """The line of a Mega Evolution, Primal Reversion or Ultra Burst ends with the stone; poke-env does not read it."""
    return difference.feature == "opponent.item" and any(
        parts[1] in {"-mega", "-primal", "-burst"}
        and difference.is_named(parts[2])
        and to_id_str(parts[-1]) == difference.tracker
        for parts in difference.parts()
    )


def offers_no_max_moves_of_locked(difference: Difference) -> bool:
    """What locks a Pokémon into a move, or disables one, does not bind its Max moves; poke-env leaves them out.

    Tests whether all that poke-env lacks are Max moves, and that it offers nothing else but a switch from a known trap.
    """
    if difference.feature == "pairs":
        return offers_no_max_moves_of_locked_slot(difference)
    if difference.feature != "choices":
        return False
    ours, theirs = difference.tracker, without_trapped_switches(difference)
    is_dynamaxed = difference.has_max_moves(position=0)
    missing = set(ours) - set(theirs)
    return (
        bool(missing)
        and all(choice.endswith(" dynamax") or (is_dynamaxed and choice.startswith("move ")) for choice in missing)
        and set(theirs) <= set(ours)
    )


def keeps_ability_of_mega(difference: Difference) -> bool:
    """A Pokémon that faints loses its Mega Evolution and its ability; poke-env knows the ability by the last forme.

    Tests whether the Pokémon has evolved and fainted.
    """
    return (
        difference.feature == "opponent.ability"
        and bool(difference.state["fainted"])
        and any(parts[1] == "-mega" and difference.is_named(parts[2]) for parts in difference.parts())
    )


def keeps_ability_that_mega_had(difference: Difference) -> bool:
    """A Mega Evolution can trace an ability, or be given one; poke-env keeps the ability of its data.

    Tests whether the Pokémon has evolved, and the last line about its ability names the tracker's.
    """
    if not difference.is_about("ability"):
        return False
    of_pokemon = [parts for parts in difference.parts() if difference.is_named(parts[2])]
    given = next((to_id_str(parts[3]) for parts in of_pokemon if parts[1] == "-ability"), "")
    return given == difference.tracker and any(parts[1] == "-mega" for parts in of_pokemon)


def types_hidden_power(difference: Difference) -> bool:
    """The simulator takes Hidden Power's Z-move from the type Normal, poke-env from its user's own type.

    Tests whether the request offers the Z-move exactly where the tracker does.
    """
    choice = "move hiddenpower zmove"
    if difference.feature != "choices" or set(difference.tracker) ^ set(difference.poke_env) != {choice}:
        return False
    active = difference.request["active"][0]
    offered = zip(active["moves"], active.get("canZMove", []), strict=False)
    has_z_move = any(move["id"] == "hiddenpower" and z_move is not None for move, z_move in offered)
    return has_z_move == (choice in difference.tracker)


def misses_moves_of_z_moves(difference: Difference) -> bool:
    """A status move keeps its name as a Z-move, and some Z-moves replace one move only; poke-env learns neither.

    Tests whether the Pokémon has used as many Z-moves as poke-env lacks moves.
    """
    if not difference.is_about("moves") or not set(difference.poke_env) < set(difference.tracker):
        return False
    uses = sum(
        parts[1] == "move" and difference.is_named(parts[2]) and (parts[3].startswith("Z-") or "[zeffect]" in parts)
        for parts in difference.parts()
        if len(parts) > 3
    )
    return len(set(difference.tracker) - set(difference.poke_env)) <= uses
