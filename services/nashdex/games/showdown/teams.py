"""Team sets by name: the ones that nashdex ships, and the ones in a directory.

A directory holds ``SET/FORMAT/*.FORMAT_team``, one team a file as Showdown's teambuilder exports it, or packed teams
one a line. The variable ``NASHDEX_TEAM_SETS`` names it.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.names import without_series

OWN: Final = "own"
"""The name of the set that a format is played with if settings name no other."""
_DIRECTORY_VARIABLE: Final = "NASHDEX_TEAM_SETS"
_TEAMS_AT_ONCE: Final = 200


@dataclass(frozen=True)
class TeamSet:
    """Teams of one format, each judged by the simulator's validator."""

    name: str
    packed: tuple[str, ...]
    """The legal teams."""
    illegal: tuple[tuple[str, tuple[str, ...]], ...]
    """Where each illegal team is, and the validator's objections."""

    @property
    def text(self) -> str:
        """The legal teams, one a line."""
        return "".join(f"{team}\n" for team in self.packed)

    @property
    def sha256(self) -> str:
        """The hash of ``text``."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def team_set_names(format_id: str) -> tuple[str, ...]:
    """Return the names of the sets for a format: the shipped ones, then the directory's."""
    shipped = []
    for file in _shipped().iterdir():
        stem, _, suffix = file.name.rpartition(".")
        own_format, _, name = stem.partition(".")
        if suffix == "txt" and own_format == without_series(format_id):
            shipped.append(name or OWN)
    root = _directory()
    found = [] if root is None else [path.parent.name for path in root.glob(f"*/{format_id}") if path.is_dir()]
    return tuple(dict.fromkeys([*sorted(shipped, key=lambda name: (name != OWN, name)), *sorted(found)]))


def load_team_set(format_id: str, name: str) -> TeamSet:
    """Return the set called ``name``, each team judged by the validator. The directory's sets come before shipped ones.

    Raises:
        ConfigurationError: there is no such set.
        DataError: it cannot be read, or has no legal team.
    """
    texts = _texts(format_id, name)
    gateway = Gateway(format_id)
    try:
        verdicts = [
            verdict
            for at in range(0, len(texts), _TEAMS_AT_ONCE)
            for verdict in gateway.verdicts([text for _place, text in texts[at : at + _TEAMS_AT_ONCE]])
        ]
    finally:
        gateway.close()
    illegal = tuple((place, why) for (place, _text), (_packed, why) in zip(texts, verdicts, strict=True) if why)
    teams = TeamSet(name, tuple(dict.fromkeys(packed for packed, _why in verdicts if packed is not None)), illegal)
    if not teams.packed:
        first = f": {illegal[0][0]}: {'; '.join(illegal[0][1])}" if illegal else ""
        raise DataError(f"team set {name!r} has no legal team for {format_id}{first}")
    return teams


def split_teams(text: str) -> list[str]:
    """Return the teams of a text: packed, one a line, or export text with a line ``===`` between teams."""
    if "|" in text:
        return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [team for team in text.split("===") if team.strip()]


def _texts(format_id: str, name: str) -> Sequence[tuple[str, str]]:
    """Return each team's place, such as ``a.gen1ou_team, team 2``, and its text."""
    root = _directory()
    folder = None if root is None else root / name / format_id
    try:
        if folder is not None and folder.is_dir():
            files = [(path.name, path.read_text("utf-8")) for path in sorted(folder.glob(f"*.{format_id}_team"))]
        else:
            shared = without_series(format_id)
            shipped = _shipped() / (f"{shared}.txt" if name == OWN else f"{shared}.{name}.txt")
            if not shipped.is_file():
                known = ", ".join(team_set_names(format_id)) or "none"
                raise ConfigurationError(
                    f"no team set {name!r} for {format_id}: expected one of {known}, or a folder {name}/{format_id} in "
                    f"the directory that {_DIRECTORY_VARIABLE} names"
                )
            files = [(shipped.name, shipped.read_text("utf-8"))]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"team set {name!r} cannot be read ({error}); expected text files of teams") from error
    return [
        (f"{file}, team {number}", team)
        for file, text in files
        for number, team in enumerate(split_teams(text), start=1)
    ]


def _shipped() -> resources.abc.Traversable:
    return resources.files(__package__) / "team_sets"


def _directory() -> Path | None:
    value = os.environ.get(_DIRECTORY_VARIABLE)
    return Path(value) if value else None
