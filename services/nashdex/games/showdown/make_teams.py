"""Makes a format's own team set: ``python -m nashdex.games.showdown.make_teams --format gen1ou > …/gen1ou.txt``.

Hand-written teams come first, if there are any, then teams of an earlier format's tournaments that are legal here. The
rest are by a random format's generator: whole teams, adapted to the format, that the simulator's validator accepts;
where too few are legal, teams of six sets, each of them legal. They are legal, not competitive. Equal arguments give
equal files.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import Annotated, Final

import typer

from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.showdown.game import pack_teams
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.teams import split_teams

_SOURCES: Final = {
    "gen7letsgoou": "gen7letsgorandombattle",
    "gen8bdspou": "gen8bdsprandombattle",
    "gen9nationaldex": "gen9randombattle",
    "gen9doublesou": "gen9randomdoublesbattle",
    "gen9vgc2025regi": "gen9randomdoublesbattle",
}
"""Random formats other than the generation's own singles."""
_TOURNAMENTS: Final = {
    "gen8vgc2021": "gen8vgc2020",
    "gen8vgc2022": "gen8vgc2020",
    "gen9vgc2025regi": "gen9vgc2024regg",
}
"""The format whose tournaments' teams are legal for the most part."""
_TEAM_SIZE: Final = 6
_DRAWN_PER_TEAM: Final = 12
"""Teams whose sets are tried for each assembled team."""
_ITEM, _EVS, _IVS, _LEVEL = 2, 6, 8, 10
"""Fields of a packed set, by position."""
_WITHOUT_EVS: Final = ("gen1", "gen2", "gen7letsgo")
"""Formats whose validator fills in the effort values of a set without any."""
_ASSEMBLED: Final = ("uu", "nu", "letsgoou")
"""Formats for which hardly any generated team is legal as a whole."""
_ITEM_CLAUSE: Final = "vgc"
"""Part of the names of formats with an item clause: a team's items differ, so teams are assembled too."""


def main(
    format_id: Annotated[str, typer.Option("--format", help="A format whose players bring teams.")] = "gen1ou",
    count: Annotated[int, typer.Option(help="Generated teams, besides the hand-written ones.", min=1)] = 62,
    seed: Annotated[int, typer.Option(help="Root of the generator's seeds.")] = 1,
) -> None:
    """Print the team set: packed teams, one a line."""
    source = _SOURCES.get(format_id, f"{format_id[:4]}randombattle")
    by_hand = resources.files(__package__) / "team_sets" / f"{format_id}.hand-written.txt"
    earlier = _TOURNAMENTS.get(format_id)
    gateway = Gateway(format_id)
    try:
        tournaments = _legal(gateway, _tournament_teams(earlier)) if earlier else []
        generated = _generate(gateway, source, count, seed)
    finally:
        gateway.close()
    by_hand_teams = []
    parts = [f"{len(generated)} by {source}'s generator (seed {seed})"]
    if earlier:
        parts.insert(0, f"{len(tournaments)} of {earlier}'s tournaments (licences: tournaments.licences)")
    if by_hand.is_file():
        by_hand_teams = pack_teams(format_id, by_hand.read_text("utf-8"), "the hand-written teams").splitlines()
        parts.insert(0, "hand-written teams")
    lines = [f"# {format_id}: {', then '.join(parts)}.", *by_hand_teams, *tournaments, *generated]
    sys.stdout.write("\n".join(lines) + "\n")


def _tournament_teams(format_id: str) -> list[str]:
    text = (resources.files(__package__) / "team_sets" / f"{format_id}.tournaments.txt").read_text("utf-8")
    return split_teams(text)


def _legal(gateway: Gateway, teams: Sequence[str]) -> list[str]:
    """Return the teams that the validator accepts, as it completes them."""
    return [packed for packed, _problems in gateway.verdicts(list(teams)) if packed is not None]


def _generate(gateway: Gateway, source: str, count: int, seed: int) -> list[str]:
    """Return ``count`` legal teams: whole ones while the generator yields them, then assembled ones."""
    format_id = gateway.space.format
    has_item_clause = _ITEM_CLAUSE in format_id
    is_assembled = format_id.endswith(_ASSEMBLED) or has_item_clause
    teams = [] if is_assembled else gateway.generate(count, hex_seed(derive_seed(seed, "teams", format_id)), source)
    missing = count - len(teams)
    if not missing:
        return teams
    generator = Gateway(source)
    try:
        drawn = generator.generate(missing * _DRAWN_PER_TEAM, hex_seed(derive_seed(seed, "sets", format_id)))
    finally:
        generator.close()
    sets = dict.fromkeys(_adapted(packed, format_id) for team in drawn for packed in team.split("]"))
    verdicts = zip(sets, gateway.verdicts(list(sets)), strict=True)
    legal = [packed or given for given, (packed, problems) in verdicts if all(map(_is_of_size, problems))]
    assembled = _legal(gateway, list(_assemble(legal, has_item_clause=has_item_clause)))
    return [*teams, *assembled[:missing]]


def _is_of_size(problem: str) -> bool:
    """Say whether the validator objects to nothing but the number of Pokémon."""
    return problem.startswith("You must bring at least")


def _adapted(packed: str, format_id: str) -> str:
    """Return a generated set at the format's own level, without effort values where the validator fills them in."""
    fields = packed.split("|")
    fields[_LEVEL] = ""
    if format_id.startswith(_WITHOUT_EVS):
        fields[_EVS] = fields[_IVS] = ""
    return "|".join(fields)


def _assemble(sets: Iterable[str], *, has_item_clause: bool) -> Iterator[str]:
    """Yield packed teams of six species each; a set that repeats a species or, by the clause, an item is left out."""
    team: dict[str, str] = {}
    for packed in sets:
        fields = packed.split("|")
        if has_item_clause and fields[_ITEM] in {other.split("|")[_ITEM] for other in team.values()}:
            continue
        team.setdefault((fields[1] or fields[0]).partition("-")[0], packed)
        if len(team) == _TEAM_SIZE:
            yield "]".join(team.values())
            team = {}


if __name__ == "__main__":
    typer.run(main)
