"""Reasons about faints, volatiles, weather, abilities and items."""

from typing import Final

from poke_env.data import to_id_str

from audits.tracker.difference import Difference

_ABILITY_LINES: Final = frozenset(
    {"-block", "-boost", "-curestatus", "-enditem", "-fail", "-fieldstart", "-heal", "-item", "-start", "-status",
     "-unboost", "-weather", "cant"}
)  # fmt: skip
"""Lines whose ability poke-env does not read, of ``-heal`` those without a second Pokémon."""
_ABILITY_EFFECT_LINES: Final = frozenset({"-activate", "-block", "-start", "cant"})
"""Lines whose own effect can be an ability."""
_MARKS: Final = frozenset({"-start", "-end"})


def keeps_boosts_of_fainted(difference: Difference) -> bool:
    """The simulator clears boosts when a Pokémon faints; poke-env when another takes its place."""
    return difference.is_about("boosts") and difference.state["fainted"] and not any(difference.tracker.values())


def keeps_terastallization_of_fainted(difference: Difference) -> bool:
    """The simulator ends it when the Pokémon faints, and the request says so; poke-env keeps it."""
    pokemon = difference.pokemon
    return (
        difference.is_about("terastallized", "types")
        and any(parts[1] == "faint" and difference.is_named(parts[2]) for parts in difference.parts())
        and not difference.state["terastallized"]
        and pokemon is not None
        and pokemon.is_terastallized
    )


def names_terastallization_in_details(difference: Difference) -> bool:
    """The details with which a Pokémon comes in say whether it is terastallized; poke-env takes only the type.

    Tests whether the details with which the Pokémon came in last are as the tracker has it.
    """
    pokemon = difference.pokemon
    if not difference.is_about("terastallized", "types") or pokemon is None:
        return False
    terastallized = difference.state["terastallized"]
    if terastallized == pokemon.is_terastallized:
        return False
    for parts in difference.parts():
        if parts[1] == "-terastallize" and difference.is_named(parts[2]):
            return False
        if parts[1] in {"switch", "drag"} and difference.is_named(parts[2]):
            return bool((", tera:" in parts[3]) == terastallized)
    return False


def keeps_types_of_fainted(difference: Difference) -> bool:
    """The simulator ends copied and changed types when a Pokémon faints; poke-env when another takes its place."""
    return (
        difference.is_about("types")
        and difference.state["fainted"]
        and any(
            parts[2] == difference.ident and (parts[1] == "-transform" or parts[3:4] in (["typechange"], ["typeadd"]))
            for parts in difference.since_entry()
        )
    )


def keeps_destiny_bond(difference: Difference) -> bool:
    """Destiny Bond ends with its user's next move; poke-env keeps it until its user leaves."""
    if not difference.is_about("volatile.destinybond") or difference.tracker:
        return False
    for parts in difference.parts():
        if parts[2] == difference.ident and parts[1] in {"move", "cant", "faint"}:
            return True
        if parts[2] == difference.ident and parts[1] == "-singlemove":
            return False
    return False


def ends_yawn(difference: Difference) -> bool:
    """Yawn ends in its own time; poke-env ends it when its victim falls asleep otherwise."""
    if not difference.is_about("volatile.yawn") or difference.poke_env:
        return False
    shown = [parts[3] for parts in difference.since_entry() if parts[2] == difference.ident and parts[1] in _MARKS]
    return shown.count("move: Yawn") % 2 == 1


def ends_flash_fire(difference: Difference) -> bool:
    """Flash Fire lasts until the Pokémon leaves; poke-env ends it with the next Fire move."""
    if not difference.is_about("volatile.flashfire") or difference.poke_env:
        return False
    shown = [parts for parts in difference.since_entry() if parts[2] == difference.ident]
    starts = [parts for parts in shown if parts[1] == "-start" and parts[3] == "ability: Flash Fire"]
    ends = [parts for parts in shown if parts[1] == "-end" and parts[3] == "ability: Flash Fire"]
    return bool(starts) and not ends


def keeps_recharge(difference: Difference) -> bool:
    """poke-env ends a recharge with the next move, not with the turn that recharged.

    Tests whether the recharge was announced and has been served, or has ended otherwise, since.
    """
    if not difference.is_about("volatile.recharge") or difference.tracker:
        return False
    for parts in difference.parts():
        if parts[1] == "-mustrecharge" and parts[2] == difference.ident:
            return False
        served = parts[1] == "cant" and parts[2] == difference.ident and parts[3] in {"recharge", "flinch"}
        fell_asleep = parts[1] == "-status" and parts[2] == difference.ident and parts[3] == "slp"
        fainted = parts[1] == "faint" and parts[2] == difference.ident
        was_bound = (
            difference.battle_state["generation"] == 1
            and parts[1] == "move"
            and not parts[2].startswith(difference.role)
            and to_id_str(parts[3]) in {"wrap", "bind", "clamp", "firespin"}
        )
        if served or fell_asleep or fainted or was_bound:
            return True
    return False


def keeps_prepared_move(difference: Difference) -> bool:
    """poke-env keeps a prepared move that was made at once, was prevented, or whose user fainted."""
    if not difference.is_about("prepared") or difference.tracker:
        return False
    if difference.state["fainted"]:
        return True
    for parts in difference.parts():
        if parts[2] != difference.ident:
            continue
        if parts[1] in {"-anim", "cant"}:
            return True
        if parts[1] == "-damage" and parts[-1] == "[from] confusion" and difference.battle_state["generation"] == 1:
            return True
        if parts[1] == "-prepare":
            return False
    return False


def dates_weather_by_upkeep(difference: Difference) -> bool:
    """poke-env restarts a weather's date at every upkeep line."""
    if difference.feature != "weather.since":
        return False
    turn = difference.battle_state["turn"]
    for parts in difference.parts():
        if parts[1] == "turn":
            turn = int(parts[2]) - 1
        if parts[1] == "-weather":
            return parts[-1] == "[upkeep]" and bool(turn == difference.poke_env)
    return False


def misses_ability(difference: Difference) -> bool:
    """poke-env reads abilities on some types of lines only."""
    if not difference.is_about("ability") or difference.poke_env:
        return False
    for parts in difference.parts():
        names = [part[16:] for part in parts if part.startswith("[from] ability: ") and parts[1] in _ABILITY_LINES]
        names += [part[9:] for part in parts[3:4] if part.startswith("ability: ") and parts[1] in _ABILITY_EFFECT_LINES]
        if not names or to_id_str(names[0]) != difference.tracker:
            continue
        owners = [part[5:] for part in parts if part.startswith("[of] ")]
        for owner in (parts[2], *owners):
            if owner.partition(": ")[2] == difference.state["name"] and owner.startswith(difference.role):
                return True
    return False


def copies_boosts_backwards(difference: Difference) -> bool:
    """Psych Up gives its user the target's boosts; poke-env gives the target the user's.

    Tests whether a line says so of the Pokémon since it came in.
    """
    return difference.is_about("boosts") and any(
        parts[1] == "-copyboost" and (difference.is_named(parts[2]) or difference.is_named(parts[3]))
        for parts in difference.since_entry()
    )


def misses_swapped_abilities(difference: Difference) -> bool:
    """A swap of abilities between partners names neither; poke-env leaves each its own.

    Tests whether a line since the Pokémon came in says that it swapped.
    """
    return difference.is_about("ability") and any(
        parts[1] == "-activate"
        and parts[3].endswith("Skill Swap")
        and any(difference.is_named(part.removeprefix("[of] ")) for part in (parts[2], parts[-1]))
        for parts in difference.since_entry()
    )


def misses_regeneration(difference: Difference) -> bool:
    """A Pokémon with Regenerator heals a third as it leaves; poke-env does not know one that Trace has shown."""
    if not difference.is_about("hp") or difference.state["base_ability"] != "regenerator":
        return False
    hp, of = difference.tracker
    return bool(hp == min(of, difference.poke_env[0] + of // 3))


def keeps_ability_of_fainted(difference: Difference) -> bool:
    """A Pokémon that faints has its own ability again; poke-env keeps the one that a move gave it.

    Tests whether it fainted, the tracker knows its own ability, and a line has given it poke-env's.
    """
    return (
        difference.is_about("ability")
        and difference.state["fainted"]
        and difference.tracker == difference.state["base_ability"]
        and any(
            parts[1] == "-ability" and difference.is_named(parts[2]) and to_id_str(parts[3]) == difference.poke_env
            for parts in difference.parts()
        )
    )


def misses_item_of_line(difference: Difference) -> bool:
    """poke-env does not read the item of an orb's status, a failure or a Shell Bell, nor what an item or move shows."""
    if not difference.is_about("item"):
        return False
    item = difference.tracker
    return any(
        _names_item(parts, item) if difference.is_named(parts[2]) else _is_shown_by_frisk(parts, item)
        for parts in difference.parts()
    )


def _names_item(parts: list[str], item: str) -> bool:
    """Whether a line about the item's holder names it where poke-env does not read it."""
    match parts[1]:
        case "-status" | "-fail" | "-heal":
            return f"[from] item: {item}" in map(_with_id, parts[3:])
        case "-activate":
            return _with_id(parts[3]) == f"item: {item}" or (
                parts[3] == "move: Poltergeist" and to_id_str(parts[4]) == item
            )
    return False


def _is_shown_by_frisk(parts: list[str], item: str) -> bool:
    """Whether a line shows the item without its holder, as in the fourth and fifth generations."""
    return parts[1:3] == ["-item", ""] and to_id_str(parts[3]) == item


def _with_id(tag: str) -> str:
    """Return a tag with its name replaced by the id."""
    kind, colon, name = tag.rpartition(": ")
    return f"{kind}{colon}{to_id_str(name)}"
