"""Tests of why the tracker and poke-env differ. Each reads the lines that the seat saw.

A reason explains a difference only if the lines contain its evidence. ``known`` lists the reasons.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from poke_env.battle import Battle, Pokemon
from poke_env.data import GenData, to_id_str

_FIRST_GENERATION_CHARGES: Final = frozenset({"dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam"})
_ABILITY_LINES: Final = frozenset(
    {"-block", "-boost", "-curestatus", "-enditem", "-fail", "-fieldstart", "-heal", "-item", "-start", "-status",
     "-unboost", "-weather", "cant"}
)  # fmt: skip
"""Lines whose ability poke-env does not read, of ``-heal`` those without a second Pokémon."""
_ABILITY_EFFECT_LINES: Final = frozenset({"-activate", "-block", "-start", "cant"})
"""Lines whose own effect can be an ability."""
_MARKS: Final = frozenset({"-start", "-end"})
_MIN_PARTS: Final = 3


@dataclass(frozen=True)
class Difference:
    """One feature on which the two disagree, with all that helps to explain it."""

    feature: str
    tracker: Any
    poke_env: Any
    state: Mapping[str, Any]
    """The tracker's entry of the Pokémon, or its whole state for a feature of the battle."""
    battle_state: Mapping[str, Any]
    pokemon: Pokemon | None
    battle: Battle
    request: Mapping[str, Any]
    lines: Sequence[str]
    """All lines that the seat has seen."""

    @property
    def role(self) -> str:
        """The side that the feature is about."""
        own, opponent = self.battle.player_role, self.battle.opponent_role
        return str(own if self.feature.startswith("own.") else opponent)

    @property
    def ident(self) -> str:
        """How lines call the Pokémon while it is active."""
        return f"{self.role}a: {self.state['name']}"

    def is_named(self, ident: str) -> bool:
        """Whether ``ident``, on the field or off it, is the Pokémon."""
        return ident.startswith(self.role) and ident.partition(": ")[2] == self.state["name"]

    def parts(self) -> Iterator[list[str]]:
        """Yield the parts of each line, the latest first."""
        for line in reversed(self.lines):
            parts = line.split("|")
            if len(parts) >= _MIN_PARTS:
                yield parts

    def since_entry(self) -> list[list[str]]:
        """Return the parts of the lines since the Pokémon last came in, the earliest first."""
        found = []
        for parts in self.parts():
            found.append(parts)
            if parts[1] in {"switch", "drag"} and parts[2].startswith(self.role):
                break
        return found[::-1]


def _is_about(difference: Difference, *features: str) -> bool:
    return difference.feature.partition(".")[2] in features


def keeps_boosts_of_fainted(difference: Difference) -> bool:
    """The simulator clears boosts when a Pokémon faints; poke-env when another takes its place."""
    return _is_about(difference, "boosts") and difference.state["fainted"] and not any(difference.tracker.values())


def keeps_terastallization_of_fainted(difference: Difference) -> bool:
    """The simulator ends it when the Pokémon faints, and the request says so; poke-env keeps it."""
    pokemon = difference.pokemon
    return (
        _is_about(difference, "terastallized", "types")
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
    if not _is_about(difference, "terastallized", "types") or pokemon is None:
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
        _is_about(difference, "types")
        and difference.state["fainted"]
        and any(
            parts[2] == difference.ident and (parts[1] == "-transform" or parts[3:4] in (["typechange"], ["typeadd"]))
            for parts in difference.since_entry()
        )
    )


def keeps_destiny_bond(difference: Difference) -> bool:
    """Destiny Bond ends with its user's next move; poke-env keeps it until its user leaves."""
    if not _is_about(difference, "volatile.destinybond") or difference.tracker:
        return False
    for parts in difference.parts():
        if parts[2] == difference.ident and parts[1] in {"move", "cant", "faint"}:
            return True
        if parts[2] == difference.ident and parts[1] == "-singlemove":
            return False
    return False


def ends_yawn(difference: Difference) -> bool:
    """Yawn ends in its own time; poke-env ends it when its victim falls asleep otherwise."""
    if not _is_about(difference, "volatile.yawn") or difference.poke_env:
        return False
    shown = [parts[3] for parts in difference.since_entry() if parts[2] == difference.ident and parts[1] in _MARKS]
    return shown.count("move: Yawn") % 2 == 1


def ends_flash_fire(difference: Difference) -> bool:
    """Flash Fire lasts until the Pokémon leaves; poke-env ends it with the next Fire move."""
    if not _is_about(difference, "volatile.flashfire") or difference.poke_env:
        return False
    shown = [parts for parts in difference.since_entry() if parts[2] == difference.ident]
    starts = [parts for parts in shown if parts[1] == "-start" and parts[3] == "ability: Flash Fire"]
    ends = [parts for parts in shown if parts[1] == "-end" and parts[3] == "ability: Flash Fire"]
    return bool(starts) and not ends


def keeps_recharge(difference: Difference) -> bool:
    """poke-env ends a recharge with the next move, not with the turn that recharged.

    Tests whether the recharge was announced and has been served, or has ended otherwise, since.
    """
    if not _is_about(difference, "volatile.recharge") or difference.tracker:
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
    if not _is_about(difference, "prepared") or difference.tracker:
        return False
    if difference.state["fainted"]:
        return True
    for parts in difference.parts():
        if parts[2] != difference.ident:
            continue
        if parts[1] in {"-anim", "cant"}:
            return True
        if parts[1] == "-damage" and parts[-1] == "[from] confusion":
            return bool(difference.battle_state["generation"] == 1)
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
    if not _is_about(difference, "ability") or difference.poke_env:
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


def misses_item_of_line(difference: Difference) -> bool:
    """poke-env does not read the item of an orb's status, nor the one that Poltergeist shows."""
    if not _is_about(difference, "item"):
        return False
    for parts in difference.parts():
        if parts[2].partition(": ")[2] != difference.state["name"] or not parts[2].startswith(difference.role):
            continue
        if parts[1] == "-status" and f"[from] item: {difference.tracker}" == _with_id(parts[-1]):
            return True
        if parts[1] == "-activate" and parts[3] == "move: Poltergeist" and to_id_str(parts[4]) == difference.tracker:
            return True
    return False


def _with_id(tag: str) -> str:
    """Return a tag with its name replaced by the id."""
    kind, colon, name = tag.rpartition(": ")
    return f"{kind}{colon}{to_id_str(name)}"


def keeps_forme(difference: Difference) -> bool:
    """poke-env keeps the species of a Pokémon that changed its forme for good until it switches in again.

    Tests whether the last change of forme that was announced is the tracker's.
    """
    if not _is_about(difference, "species"):
        return False
    for parts in difference.parts():
        if parts[1] == "detailschange" and difference.is_named(parts[2]):
            return bool(to_id_str(parts[3].split(",")[0]) == difference.tracker)
    return False


def keeps_forme_of_left(difference: Difference) -> bool:
    """A forme of this kind ends when its Pokémon leaves or faints; poke-env keeps its types.

    Tests whether poke-env's types are those of a forme that the Pokémon took for as long as it was on the field.
    """
    if not _is_about(difference, "types"):
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
    return (
        _is_about(difference, "types") and difference.state["tera"] == "stellar" and difference.poke_env == ["stellar"]
    )


def drops_what_was_passed(difference: Difference) -> bool:
    """Baton Pass and Shed Tail hand on boosts and volatiles; poke-env drops them."""
    if not _is_about(difference, "boosts", "volatile.substitute") and ".volatile." not in difference.feature:
        return False
    entry = difference.since_entry()[0]
    return "[from] Baton Pass" in entry or (
        "[from] Shed Tail" in entry and _is_about(difference, "volatile.substitute") and bool(difference.tracker)
    )


def copies_types_of_species(difference: Difference) -> bool:
    """Transform copies types as they are; poke-env copies those of the species.

    Tests whether the Pokémon copied one whose types were not those of its species.
    """
    if not _is_about(difference, "types"):
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
        _is_about(difference, "moves")
        and difference.poke_env == sorted([*difference.tracker, "transform"])
        and any(
            parts[1] == "-transform" and parts[2] == difference.ident and parts[-1] == "[from] ability: Imposter"
            for parts in difference.parts()
        )
    )


def orders_copied_moves_as_seen(difference: Difference) -> bool:
    """poke-env orders a transformed Pokémon's moves as it saw the original use them; the request has an order."""
    active = difference.battle.active_pokemon
    return difference.feature == "action_numbers" and active is not None and active.transformed


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

    Tests whether the own active Pokémon came in looking like another.
    """
    seen = {"own.boosts", "own.types", "own.prepared"}
    if difference.feature not in seen and not difference.feature.startswith("own.volatile."):
        return False
    entry = difference.since_entry()[0]
    active = next(pokemon for pokemon in difference.request["side"]["pokemon"] if pokemon["active"])
    return bool(active["baseAbility"] == "illusion" and entry[2].partition(": ")[2] != active["ident"][4:])


def confuses_disguise(difference: Difference) -> bool:
    """poke-env leaves what was seen of a disguised Pokémon with the one that it looked like, but for HP.

    Tests whether the Pokémon wore a disguise that ended, or was the disguise.
    """
    seen = ("hp", "boosts", "item", "moves", "pp", "status", "ability", "terastallized", "types", "tera")
    if not _is_about(difference, *seen) and ".volatile." not in difference.feature:
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


def spends_pp_of_charge_at_once(difference: Difference) -> bool:
    """The first generation spends their PP in the second turn; poke-env in the first.

    Tests whether poke-env has counted exactly the uses whose second turn never came.
    """
    if not _is_about(difference, "pp") or difference.battle_state["generation"] != 1:
        return False
    move, left = difference.tracker
    if move not in _FIRST_GENERATION_CHARGES:
        return False
    unfinished = 0
    for parts in difference.parts():
        if parts[1] == "move" and parts[2] == difference.ident and to_id_str(parts[3]) == move:
            unfinished += -1 if any(part.startswith("[from]") for part in parts) else 1
    return bool(left - difference.poke_env[1] == unfinished)


def gives_mimicked_move_own_pp(difference: Difference) -> bool:
    """In the first generation a mimicked move spends the PP of Mimic; poke-env gives it its own.

    Tests whether the move is Mimic, or one that this Pokémon has mimicked.
    """
    if not _is_about(difference, "pp", "max_pp"):
        return False
    move = difference.tracker[0]
    return any(
        parts[2] == difference.ident
        and parts[1] in {"-start", "-activate"}
        and parts[3].removeprefix("move: ") == "Mimic"
        and (move == "mimic" or to_id_str(parts[4]) == move)
        for parts in difference.parts()
        if len(parts) > 4  # noqa: PLR2004 the mimicked move is the fifth part
    )


def copies_before_request(difference: Difference) -> bool:
    """A lead that transforms copies ability and moves of the own lead, which only the next request shows.

    Tests whether the Pokémon transformed before the first turn, when poke-env knew nothing of the original.
    """
    if difference.feature not in {"opponent.ability", "opponent.moves"}:
        return False
    stay = difference.since_entry()
    begun = next((at for at, parts in enumerate(stay) if parts[1] == "turn"), len(stay))
    return ["turn", "1"] in [parts[1:3] for parts in stay] and any(
        parts[1] == "-transform" and parts[2] == difference.ident for parts in stay[:begun]
    )


def keeps_trapped(difference: Difference) -> bool:
    """A Pokémon is trapped as long as the one that trapped it stays; poke-env takes it for trapped until it leaves.

    Tests whether the one that trapped the Pokémon has left since.
    """
    if not _is_about(difference, "volatile.trapped") or difference.tracker:
        return False
    for parts in difference.parts():
        if parts[1] in {"switch", "drag"} and not parts[2].startswith(difference.role):
            return True
        if parts[1] == "-activate" and parts[2] == difference.ident and parts[3] == "trapped":
            return False
    return False


def has_fifth_move(difference: Difference) -> bool:
    """poke-env gives a Pokémon five moves when one in its disguise, never seen through, has shown some of them."""
    return (
        difference.feature == "opponent.moves"
        and len(difference.tracker) == 4  # noqa: PLR2004 a Pokémon has four moves
        and set(difference.tracker) < set(difference.poke_env)
    )


def offers_switch_from_trap(difference: Difference) -> bool:
    """Where the request says that the Pokémon may be trapped, what is known of the opponent can make that certain.

    Tests whether the request leaves it open and the tracker offers what poke-env does but switches.
    """
    return (
        difference.feature == "choices"
        and difference.battle_state["maybe_trapped"]
        and difference.tracker == [choice for choice in difference.poke_env if not choice.startswith("switch ")]
    )


def counts_mimicked_move_once(difference: Difference) -> bool:
    """A Pokémon can mimic a move that it knows, or copy one that did: it has it twice; poke-env keeps moves by name."""
    return (
        (difference.feature == "choices" or _is_about(difference, "moves"))
        and sorted(set(difference.tracker)) == difference.poke_env
        and any(
            parts[1] in {"-start", "-activate"} and parts[3].removeprefix("move: ") == "Mimic"
            for parts in difference.parts()
            if len(parts) > 3  # noqa: PLR2004 the effect is the fourth part
        )
    )


def computes_max_pp_of_copies(difference: Difference) -> bool:
    """Before the fifth generation only requests say how many PP a copied move can have; poke-env computes it.

    Tests whether the moves are copies of a generation whose requests alone say how many PP they can have.
    """
    pokemon = difference.pokemon
    copies_have_own = difference.battle_state["generation"] >= 5  # noqa: PLR2004 five PP since that generation
    return _is_about(difference, "max_pp") and pokemon is not None and pokemon.transformed and not copies_have_own


def believes_desynchronisation(difference: Difference) -> bool:
    """poke-env counts a move that a desynchronisation of the first generation lends as one of the user's own."""
    if not _is_about(difference, "moves", "pp"):
        return False
    lent = set()
    is_desynced = False
    for line in difference.lines:
        parts = line.split("|")
        if parts[1:3] == ["-hint", "Desync Clause Mod activated!"]:
            is_desynced = True
        elif is_desynced and parts[1:2] == ["move"]:
            is_desynced = False
            if parts[2] == difference.ident:
                lent.add(to_id_str(parts[3]))
    return bool(lent) and (_is_about(difference, "pp") or set(difference.poke_env) - set(difference.tracker) <= lent)


def counts_pressure_of_disguise(difference: Difference) -> bool:
    """poke-env takes PP for the Pressure that a disguised opponent would have, and does not read PP from requests.

    Tests whether poke-env counts one more for some of the uses against opponents whose disguise ended.
    """
    if difference.feature != "own.pp":
        return False
    move, left = difference.tracker
    uses = uses_in_stay = 0
    for line in difference.lines:
        parts = line.split("|")
        if len(parts) < _MIN_PARTS:
            continue
        is_foe = not parts[2].startswith(difference.role)
        if parts[1] in {"switch", "drag"} and is_foe:
            uses_in_stay = 0
        elif parts[1] == "move" and parts[2] == difference.ident and to_id_str(parts[3]) == move:
            uses_in_stay += 1
        elif parts[1] == "replace" and is_foe:
            uses += uses_in_stay
    return bool(0 < left - difference.poke_env[1] <= uses)
