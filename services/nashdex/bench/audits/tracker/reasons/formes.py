"""Reasons about formes, disguises, types and copies."""

from poke_env.battle import Pokemon
from poke_env.data import GenData, to_id_str

from nashdex.bench.audits.tracker.difference import Difference


def keeps_forme(difference: Difference) -> bool:
    """poke-env keeps the species of a Pokémon that changed its forme for good until it switches in again.

    Tests whether the last change of forme that was announced is the tracker's.
    """
    if not difference.is_about("species"):
        return False
    for parts in difference.parts():
        if parts[1] == "detailschange" and difference.is_named(parts[2]):
            return bool(to_id_str(parts[3].split(",")[0]) == difference.tracker)
    return False


def keeps_forme_of_left(difference: Difference) -> bool:
    """A forme of this kind ends when its Pokémon leaves or faints; poke-env keeps its types.

    Tests whether poke-env's types are those of a forme that the Pokémon took for as long as it was on the field.
    """
    if not difference.is_about("types"):
        return False
    has_left = False
    for parts in difference.parts():
        if parts[1] in {"switch", "drag", "faint"} and parts[2].startswith(difference.role):
            has_left = True
        if parts[1] == "-formechange" and difference.is_named(parts[2]):
            if not has_left:
                return False
            dex = GenData.from_gen(difference.battle.gen).pokedex
            return bool(sorted(kind.lower() for kind in dex[to_id_str(parts[3])]["types"]) == difference.poke_env)
    return False


def takes_stellar_for_a_type(difference: Difference) -> bool:
    """A Pokémon that is terastallized into Stellar keeps its types; poke-env gives it the type Stellar."""
    return difference.is_about("types") and difference.state["tera"] == "stellar" and difference.poke_env == ["stellar"]


def drops_what_was_passed(difference: Difference) -> bool:
    """Baton Pass and Shed Tail hand on boosts and volatiles; poke-env drops them."""
    if not difference.is_about("boosts", "volatile.substitute") and ".volatile." not in difference.feature:
        return False
    entry = difference.since_entry()[0]
    return "[from] Baton Pass" in entry or (
        "[from] Shed Tail" in entry and difference.is_about("volatile.substitute") and bool(difference.tracker)
    )


def copies_types_of_species(difference: Difference) -> bool:
    """Transform copies types as they are; poke-env copies those of the species.

    Tests whether the Pokémon copied one whose types were not those of its species.
    """
    if not difference.is_about("types"):
        return False
    copied = None
    for parts in difference.parts():
        if copied is None and parts[1] == "-transform" and parts[2] == difference.ident:
            copied = parts[3]
        elif copied is not None and parts[2] == copied:
            if parts[1] in {"-transform", "-formechange"} or parts[3:4] == ["typechange"]:
                return True
            if parts[1] in {"switch", "drag"}:
                return False
    return False


def gives_imposter_transform(difference: Difference) -> bool:
    """poke-env adds Transform to the moves of a Pokémon that transformed by its ability, which shows no move."""
    return (
        difference.is_about("moves")
        and difference.poke_env == sorted([*difference.tracker, "transform"])
        and any(
            parts[1] == "-transform" and parts[2] == difference.ident and parts[-1] == "[from] ability: Imposter"
            for parts in difference.parts()
        )
    )


def orders_copied_moves_as_seen(difference: Difference) -> bool:
    """poke-env orders a transformed Pokémon's moves as it saw the original use them; the request has an order."""
    active = difference.battle.active_pokemon
    return difference.feature == "action_numbers" and isinstance(active, Pokemon) and active.transformed


def counts_disguised_lead_first(difference: Difference) -> bool:
    """poke-env puts the Pokémon that the lead looked like first; the request's order is another."""
    if difference.feature not in {"own.order", "action_numbers"}:
        return False
    ours = [pokemon["name"] for pokemon in difference.battle_state["own"]["pokemon"]]
    theirs = [pokemon.name for pokemon in difference.battle.team.values()]
    abilities = {pokemon["ident"][4:]: pokemon["baseAbility"] for pokemon in difference.request["side"]["pokemon"]}
    return abilities[ours[0]] == "illusion" and theirs == [theirs[0], *(name for name in ours if name != theirs[0])]


def confuses_own_disguise(difference: Difference) -> bool:
    """What happens to an own Pokémon in disguise before the next request, poke-env lets happen to its looks' owner.

    Tests whether an own active Pokémon came in looking like another.
    """
    seen = {"own.boosts", "own.types", "own.prepared"}
    if difference.feature not in seen and not difference.feature.startswith("own.volatile."):
        return False
    active = [pokemon for pokemon in difference.request["side"]["pokemon"] if pokemon["active"]]
    for slot, pokemon in zip("ab", active, strict=False):
        entries = (parts for parts in difference.parts() if parts[1] in {"switch", "drag"})
        entry = next((parts[2] for parts in entries if parts[2].startswith(f"{difference.role}{slot}")), "")
        if pokemon["baseAbility"] == "illusion" and entry.partition(": ")[2] != pokemon["ident"][4:]:
            return True
    return False


def confuses_disguise(difference: Difference) -> bool:
    """poke-env leaves what was seen of a disguised Pokémon with the one that it looked like, but for HP.

    Tests whether the Pokémon wore a disguise that ended, or was the disguise.
    """
    seen = ("hp", "boosts", "item", "moves", "pp", "status", "ability", "terastallized", "types", "tera")
    if not difference.is_about(*seen) and ".volatile." not in difference.feature:
        return False
    wearer = None
    for parts in difference.parts():
        if parts[1] == "replace" and parts[2].startswith(difference.role):
            wearer = parts[2].partition(": ")[2]
        elif wearer is not None and parts[1] in {"switch", "drag"} and parts[2].startswith(difference.role):
            if difference.state["name"] in {wearer, parts[2].partition(": ")[2]}:
                return True
            wearer = None
    return False
