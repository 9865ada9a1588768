"""Makes a format's own team set: ``python -m nashdex.games.showdown.make_teams --format gen1ou > …/gen1ou.txt``.

Hand-written teams come first, if there are any. The rest are by a random format's generator: whole teams, adapted to
the format, that the simulator's validator accepts; where too few are legal, teams of six sets, each of them legal. They
are legal, not competitive. Equal arguments give equal files.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Annotated, Final

import typer

from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.showdown.game import pack_teams
from nashdex.games.showdown.gateway import Gateway

_SOURCES: Final = {
    "gen7letsgoou": "gen7letsgorandombattle",
    "gen8bdspou": "gen8bdsprandombattle",
    "gen9nationaldex": "gen9randombattle",
}
_TEAM_SIZE: Final = 6
_DRAWN_PER_TEAM: Final = 12
"""Teams whose sets are tried for each assembled team."""
_EVS, _IVS, _LEVEL = 6, 8, 10
"""Fields of a packed set, by position."""
_WITHOUT_EVS: Final = ("gen1", "gen2", "gen7letsgo")
"""Formats whose validator gives a set without effort values those that it may have."""
_ASSEMBLED: Final = ("uu", "nu", "letsgoou")
"""Formats for which hardly any generated team is legal as a whole."""


def main(
    format_id: Annotated[str, typer.Option("--format", help="A format whose players bring teams.")] = "gen1ou",
    count: Annotated[int, typer.Option(help="Generated teams, besides the hand-written ones.", min=1)] = 62,
    seed: Annotated[int, typer.Option(help="Root of the generator's seeds.")] = 1,
) -> None:
    """Print the team set: packed teams, one a line."""
    source = _SOURCES.get(format_id, f"{format_id[:4]}randombattle")
    by_hand = resources.files(__package__) / "team_sets" / f"{format_id}.hand-written.txt"
    is_by_hand = by_hand.is_file()
    gateway = Gateway(format_id)
    try:
        generated = _generate(gateway, source, count, seed)
    finally:
        gateway.close()
    first = "hand-written teams, then " if is_by_hand else ""
    lines = [f"# {format_id}: {first}{len(generated)} by {source}'s generator (seed {seed})."]
    if is_by_hand:
        lines += pack_teams(format_id, by_hand.read_text("utf-8"), "the hand-written teams").splitlines()
    sys.stdout.write("\n".join([*lines, *generated]) + "\n")


def _generate(gateway: Gateway, source: str, count: int, seed: int) -> list[str]:
    """Return ``count`` legal teams: whole ones while the generator yields them, then assembled ones."""
    format_id = gateway.space.format
    is_assembled = format_id.endswith(_ASSEMBLED)
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
    legal = [packed for packed, problems in gateway.verdicts(list(sets)) if packed is not None and not problems]
    for packed, _problems in gateway.verdicts(list(_assemble(legal))):
        if packed is not None and len(teams) < count:
            teams.append(packed)
    return teams


def _adapted(packed: str, format_id: str) -> str:
    """Return a generated set at the format's own level, without effort values where the validator fills them in."""
    fields = packed.split("|")
    fields[_LEVEL] = ""
    if format_id.startswith(_WITHOUT_EVS):
        fields[_EVS] = fields[_IVS] = ""
    return "|".join(fields)


def _assemble(sets: Iterable[str]) -> Iterator[str]:
    """Yield packed teams of six species each; a set that repeats a species of its team is left out."""
    team: dict[str, str] = {}
    for packed in sets:
        name, species = packed.split("|")[:2]
        team.setdefault((species or name).partition("-")[0], packed)
        if len(team) == _TEAM_SIZE:
            yield "]".join(team.values())
            team = {}


if __name__ == "__main__":
    typer.run(main)
