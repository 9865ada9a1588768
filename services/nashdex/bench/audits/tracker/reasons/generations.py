"""Reasons about generations: poke-env's data of each, and what Mega Evolution, Z-moves and Dynamax change."""

from poke_env.data import GenData, to_id_str

from nashdex.bench.audits.tracker.difference import Difference
from nashdex.bench.audits.tracker.reasons.doubles import offers_no_max_moves_of_locked_slot


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
        and ("[zeffect]" in parts or parts[3].startswith(("Max ", "G-Max ")))
        for parts in difference.parts()
        if len(parts) > 3  # noqa: PLR2004 the move is the fourth part
    )
    return bool(0 < missing <= 2 * uses)


def spends_pp_of_each_turn(difference: Difference) -> bool:
    """The second generation does not mark the later turns of a move, and poke-env spends PP for each of them.

    Tests whether the move is one that goes on by itself, and poke-env counts more uses.
    """
    if not difference.feature.endswith(".pp") or difference.battle_state["generation"] != 2:  # noqa: PLR2004
        return False
    move = GenData.from_gen(2).moves.get(difference.tracker[0], {})
    lasts = "charge" in move.get("flags", {}) or move.get("self", {}).get("volatileStatus") in {"lockedmove", "rollout"}
    return bool(lasts and difference.tracker[1] > difference.poke_env[1])


def misses_stone_of_line(difference: Difference) -> bool:
    """The line of a Mega Evolution, Primal Reversion or Ultra Burst ends with the stone; poke-env does not read it."""
    return difference.feature == "opponent.item" and any(
        parts[1] in {"-mega", "-primal", "-burst"}
        and difference.is_named(parts[2])
        and to_id_str(parts[-1]) == difference.tracker
        for parts in difference.parts()
    )


def offers_no_max_moves_of_locked(difference: Difference) -> bool:
    """An item that locks its holder into a move does not bind it once it dynamaxes; poke-env offers the one move."""
    if difference.feature == "pairs":
        return offers_no_max_moves_of_locked_slot(difference)
    missing = set(difference.tracker) - set(difference.poke_env) if difference.feature == "choices" else ()
    return (
        bool(missing)
        and all(choice.endswith(" dynamax") for choice in missing)
        and set(difference.poke_env) <= set(difference.tracker)
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
