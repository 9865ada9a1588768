"""Differences between the tracker and poke-env that are understood, each with its reason and a narrow test of it.

Each test reads the lines that the seat saw: a difference is explained only where they hold what the reason speaks of.
docs/tracker.md shows an excerpt of a log for each, which proves which side is wrong.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from poke_env.battle import Battle, Pokemon
from poke_env.data import to_id_str

_FIRST_GENERATION_CHARGES: Final = frozenset({"dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam"})
_ABILITY_LINES: Final = frozenset(
    {"-boost", "-curestatus", "-enditem", "-fieldstart", "-item", "-sidestart", "-start", "-status", "-weather"}
)
"""Lines whose ability poke-env does not read."""
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


@dataclass(frozen=True)
class KnownDifference:
    """An explanation and the test of whether it applies."""

    name: str
    reason: str
    explains: Callable[[Difference], bool]


def _is_about(difference: Difference, *features: str) -> bool:
    return difference.feature.partition(".")[2] in features


def _keeps_boosts_of_fainted(difference: Difference) -> bool:
    return _is_about(difference, "boosts") and difference.state["fainted"] and not any(difference.tracker.values())


def _keeps_terastallization_of_fainted(difference: Difference) -> bool:
    pokemon = difference.pokemon
    return (
        _is_about(difference, "terastallized", "types")
        and difference.state["fainted"]
        and not difference.state["terastallized"]
        and pokemon is not None
        and pokemon.is_terastallized
    )


def _keeps_recharge(difference: Difference) -> bool:
    """Whether the recharge was announced and has been served, or has ended otherwise, since."""
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


def _keeps_prepared_move(difference: Difference) -> bool:
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
            return difference.battle_state["generation"] == 1
        if parts[1] == "-prepare":
            return False
    return False


def _dates_weather_by_upkeep(difference: Difference) -> bool:
    if difference.feature != "weather.since":
        return False
    turn = difference.battle_state["turn"]
    for parts in difference.parts():
        if parts[1] == "turn":
            turn = int(parts[2]) - 1
        if parts[1] == "-weather":
            return parts[-1] == "[upkeep]" and bool(turn == difference.poke_env)
    return False


def _misses_ability_of_tag(difference: Difference) -> bool:
    if not _is_about(difference, "ability") or difference.poke_env:
        return False
    for parts in difference.parts():
        abilities = [part[16:] for part in parts if part.startswith("[from] ability: ")]
        if parts[1] in _ABILITY_LINES and abilities and to_id_str(abilities[0]) == difference.tracker:
            owners = [part[5:] for part in parts if part.startswith("[of] ")] or [parts[2]]
            if owners[0].partition(": ")[2] == difference.state["name"] and owners[0].startswith(difference.role):
                return True
    return False


def _misses_item_of_line(difference: Difference) -> bool:
    if not _is_about(difference, "item") or difference.poke_env is not None:
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
    """Return a tag with the id in place of the name of what it names."""
    kind, colon, name = tag.rpartition(": ")
    return f"{kind}{colon}{to_id_str(name)}"


def _keeps_forme(difference: Difference) -> bool:
    if not _is_about(difference, "species"):
        return False
    return any(
        parts[1] == "detailschange"
        and parts[2] == difference.ident
        and to_id_str(parts[3].split(",")[0]) == difference.tracker
        for parts in difference.parts()
    )


def _gives_imposter_transform(difference: Difference) -> bool:
    return (
        _is_about(difference, "moves")
        and difference.poke_env == sorted([*difference.tracker, "transform"])
        and any(
            parts[1] == "-transform" and parts[2] == difference.ident and parts[-1] == "[from] ability: Imposter"
            for parts in difference.parts()
        )
    )


def _orders_copied_moves_as_seen(difference: Difference) -> bool:
    active = difference.battle.active_pokemon
    return difference.feature == "action_numbers" and active is not None and active.transformed


def _counts_disguised_lead_first(difference: Difference) -> bool:
    if difference.feature not in {"own.order", "action_numbers"}:
        return False
    ours = [pokemon["name"] for pokemon in difference.battle_state["own"]["pokemon"]]
    theirs = [pokemon.name for pokemon in difference.battle.team.values()]
    abilities = {pokemon["ident"][4:]: pokemon["baseAbility"] for pokemon in difference.request["side"]["pokemon"]}
    return abilities[ours[0]] == "illusion" and theirs == [theirs[0], *(name for name in ours if name != theirs[0])]


def _confuses_disguise(difference: Difference) -> bool:
    """Whether the Pokémon wore a disguise that ended, or was the disguise."""
    if not _is_about(difference, "hp", "item", "moves", "pp", "status", "ability", "terastallized", "types", "tera"):
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


def _spends_pp_of_charge_at_once(difference: Difference) -> bool:
    """Whether poke-env has counted exactly the uses whose second turn never came."""
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


def _gives_mimicked_move_full_pp(difference: Difference) -> bool:
    move = difference.tracker[0] if _is_about(difference, "pp", "max_pp") else None
    return move is not None and any(
        parts[2] == difference.ident
        and parts[1] in {"-start", "-activate"}
        and parts[3].removeprefix("move: ") == "Mimic"
        and to_id_str(parts[4]) == move
        for parts in difference.since_entry()
        if len(parts) > 4  # noqa: PLR2004 the mimicked move is the fifth part
    )


def _does_not_read_pp(difference: Difference) -> bool:
    """Whether the tracker has what the request says."""
    if difference.feature not in {"own.pp", "own.max_pp"} or "active" not in difference.request:
        return False
    key = "pp" if difference.feature == "own.pp" else "maxpp"
    move, value = difference.tracker
    offered = difference.request["active"][0]["moves"]
    return difference.state["active"] and any(
        re.sub(r"\d+$", "", entry["id"]) == move and entry.get(key) == value for entry in offered
    )


KNOWN_DIFFERENCES: Final[Sequence[KnownDifference]] = (
    KnownDifference(
        "boosts of a fainted Pokémon",
        "The simulator clears boosts when a Pokémon faints; poke-env when another takes its place.",
        _keeps_boosts_of_fainted,
    ),
    KnownDifference(
        "Terastallization of a fainted Pokémon",
        "The simulator ends it when the Pokémon faints, and the request says so; poke-env keeps it.",
        _keeps_terastallization_of_fainted,
    ),
    KnownDifference(
        "recharge that is over",
        "poke-env ends a recharge with the next move, not with the turn that recharged.",
        _keeps_recharge,
    ),
    KnownDifference(
        "prepared move that is over",
        "poke-env keeps a prepared move that was made at once, was prevented, or whose user fainted.",
        _keeps_prepared_move,
    ),
    KnownDifference(
        "start of a weather",
        "poke-env dates a weather anew whenever it is reported to go on.",
        _dates_weather_by_upkeep,
    ),
    KnownDifference(
        "ability named by a tag",
        "poke-env reads the ability that caused a line on some types of lines only.",
        _misses_ability_of_tag,
    ),
    KnownDifference(
        "item named by a line",
        "poke-env does not read the item of an orb's status, nor the one that Poltergeist shows.",
        _misses_item_of_line,
    ),
    KnownDifference(
        "changed forme",
        "poke-env keeps the species of a Pokémon that changed its forme for good until it comes in again.",
        _keeps_forme,
    ),
    KnownDifference(
        "Transform of an Imposter",
        "poke-env adds Transform to the moves of a Pokémon that transformed by its ability, which shows no move.",
        _gives_imposter_transform,
    ),
    KnownDifference(
        "order of copied moves",
        "poke-env orders a transformed Pokémon's moves as it saw the original use them; the request has an order.",
        _orders_copied_moves_as_seen,
    ),
    KnownDifference(
        "lead in disguise",
        "poke-env puts the Pokémon that the lead looked like first; the request's order is another.",
        _counts_disguised_lead_first,
    ),
    KnownDifference(
        "disguise",
        "poke-env leaves what was seen of a disguised Pokémon with the one that it looked like, but for HP.",
        _confuses_disguise,
    ),
    KnownDifference(
        "PP of two-turn moves in the first generation",
        "The first generation spends their PP in the second turn; poke-env in the first.",
        _spends_pp_of_charge_at_once,
    ),
    KnownDifference(
        "PP of a mimicked move",
        "A mimicked move has the PP of Mimic in the first generation; poke-env gives it its own.",
        _gives_mimicked_move_full_pp,
    ),
    KnownDifference(
        "PP in the request",
        "The request says how many PP the active Pokémon's moves have; poke-env only counts uses.",
        _does_not_read_pp,
    ),
)
