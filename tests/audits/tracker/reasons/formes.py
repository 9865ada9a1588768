"""Reasons about formes, disguises, types and copies."""

from poke_env.battle import Pokemon
from poke_env.data import GenData, to_id_str

from audits.tracker.difference import Difference


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
    """Baton Pass and Shed Tail hand on boosts and volatiles; poke-env drops them, and copies of them."""
    if not difference.is_about("boosts", "volatile.substitute") and ".volatile." not in difference.feature:
        return False
    stay = difference.since_entry()
    entry = stay[0]
    copied = [parts[3] for parts in stay if parts[1] == "-transform" and parts[2] == difference.ident]
    if copied and difference.is_about("boosts"):
        entries = (parts for parts in difference.parts() if parts[1] in {"switch", "drag"} and parts[2] == copied[-1])
        entry = next(entries, entry)
    return "[from] Baton Pass" in entry or (
        "[from] Shed Tail" in entry and difference.is_about("volatile.substitute") and bool(difference.tracker)
    )


def copies_types_of_species(difference: Difference) -> bool:
    """Transform copies types as they are; poke-env copies those of the species, and keeps them if the forme changes.

    Tests whether the Pokémon copied one whose types were not those of its species, or has changed its forme since.
    """
    if not difference.is_about("types"):
        return False
    copied = None
    for parts in difference.parts():
        if copied is None and parts[1] == "-formechange" and parts[2] == difference.ident:
            entry = GenData.from_gen(difference.battle.gen).pokedex.get(to_id_str(parts[3]), {})
            return bool(sorted(kind.lower() for kind in entry.get("types", [])) == difference.tracker)
        if copied is None and parts[1] == "-transform" and parts[2] == difference.ident:
            copied = parts[3]
        elif copied is not None and parts[2] == copied:
            if parts[1] in {"-transform", "-formechange", "-mega", "-primal"} or parts[3:4] == ["typechange"]:
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
            parts[1] == "-transform" and difference.is_named(parts[2]) and parts[-1] == "[from] ability: Imposter"
            for parts in difference.parts()
        )
    )


def keeps_ability_of_copier(difference: Difference) -> bool:
    """Transform copies the ability; where poke-env does not know the original's, it keeps the copier's own.

    Tests whether the Pokémon has transformed and poke-env gives it the ability that it has by itself.
    """
    entry = difference.state
    return (
        difference.is_about("ability")
        and "transformed" in entry["volatiles"]
        and difference.poke_env in {entry["base_ability"], *_abilities(difference)}
    )


def _abilities(difference: Difference) -> set[str]:
    """Return the abilities that the Pokémon's species can have."""
    entry = GenData.from_gen(difference.battle.gen).pokedex.get(difference.state["species"], {})
    return {to_id_str(name) for name in entry.get("abilities", {}).values()}


def orders_copied_moves_as_seen(difference: Difference) -> bool:
    """poke-env orders a transformed Pokémon's moves as it saw the original use them; the request has an order."""
    active = difference.battle.active_pokemon
    return difference.feature == "action_numbers" and isinstance(active, Pokemon) and active.transformed


def counts_disguised_lead_first(difference: Difference) -> bool:
    """poke-env puts the Pokémon that a lead looked like first; the request's order is another."""
    if difference.feature not in {"own.order", "action_numbers", "pairs"}:
        return False
    own = difference.battle_state["own"]
    num_leads = len(own["slots"]) if "slots" in own else 1
    ours = [pokemon["name"] for pokemon in own["pokemon"]]
    theirs = [pokemon.name for pokemon in difference.battle.team.values()]
    abilities = {pokemon["ident"][4:]: pokemon["baseAbility"] for pokemon in difference.request["side"]["pokemon"]}
    leads = theirs[:num_leads]
    return "illusion" in {abilities.get(name) for name in ours[:num_leads]} and theirs == [
        *leads,
        *(name for name in ours if name not in leads),
    ]


def confuses_own_disguise(difference: Difference) -> bool:
    """Until the next request, poke-env applies what happens to an own disguised Pokémon to the one that it looks like.

    Tests whether an own active Pokémon came in looking like another. PP that it spent are missing later, too. An
    opponent that swapped items with it holds what a line says.
    """
    if difference.feature == "own.pp":
        return bool(difference.state["base_ability"] == "illusion" and difference.tracker[1] < difference.poke_env[1])
    seen = {"own.boosts", "own.types", "own.prepared", "own.slot"}
    swapped = difference.feature == "opponent.item" and _is_item_of_trick(difference)
    if not swapped and difference.feature not in seen and not difference.feature.startswith("own.volatile."):
        return False
    active = [pokemon for pokemon in difference.request["side"]["pokemon"] if pokemon["active"]]
    for slot, pokemon in zip("ab", active, strict=False):
        entries = (parts for parts in difference.parts() if parts[1] in {"switch", "drag"})
        own = difference.battle.player_role
        entry = next((parts[2] for parts in entries if parts[2].startswith(f"{own}{slot}")), "")
        if pokemon["baseAbility"] == "illusion" and entry.partition(": ")[2] != pokemon["ident"][4:]:
            return True
    return False


def _is_item_of_trick(difference: Difference) -> bool:
    """Whether the latest line about the Pokémon's item is that of a swap, and names the tracker's item."""
    own = (parts for parts in difference.parts() if difference.is_named(parts[2]))
    latest = next((parts for parts in own if parts[1] in {"-item", "-enditem"}), [])
    swaps = (["[from] move: Trick"], ["[from] move: Switcheroo"])
    return latest[4:5] in swaps and bool(to_id_str(latest[3]) == difference.tracker)


def confuses_disguise(difference: Difference) -> bool:
    """poke-env attributes what it saw of a disguised Pokémon, except HP, to the one that it looked like.

    Tests whether the Pokémon wore a disguise that ended, or was the disguise.
    """
    seen = ("hp", "boosts", "item", "moves", "pp", "status", "ability", "terastallized", "types", "tera")
    if not difference.is_about(*seen) and ".volatile." not in difference.feature:
        return False
    wearers: dict[str, str] = {}
    for parts in difference.parts():
        slot, _, name = parts[2].partition(": ")
        if parts[1] == "replace" and slot.startswith(difference.role):
            wearers[slot] = name
        elif (
            slot in wearers
            and parts[1] in {"switch", "drag"}
            and difference.state["name"]
            in {
                wearers.pop(slot),
                name,
            }
        ):
            return True
    return False
