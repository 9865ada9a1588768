"""Players of other programs, as this machine declares them: a file of the machine's own, never a store's.

``NASHDEX_PLAYERS`` names the file; by default it is ``~/.config/nashdex/players.toml``. Each table is one player, and
its name follows ``external:`` wherever a policy is named.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import ID_PATTERN, id_of_text
from nashdex.core.section import Section

PREFIX: Final = "external:"
FILE_VARIABLE: Final = "NASHDEX_PLAYERS"
CLASS_PATTERN: Final = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"
_MAX_ID: Final = 63


class ExternalPlayer(Section):
    """One player of another program."""

    player_class: str = Field(
        alias="class",
        pattern=CLASS_PATTERN,
        description="A poke-env Player as module:Class. It plays in child processes, without a server.",
    )
    folder: Path | None = Field(None, description="Working directory; by default this command's.")
    decision_seconds: float = Field(30.0, gt=0, le=3600, description="Longest time for one decision.")
    start_seconds: float = Field(60.0, gt=0, le=3600, description="Longest time until it is ready.")
    at_once: int = Field(4, ge=1, le=64, description="Battles at once, each in a process of its own.")


def external_players() -> dict[str, ExternalPlayer]:
    """Return the players that this machine declares, by name; none without a file.

    Raises:
        ConfigurationError: the file cannot be read, or declares something else.
    """
    named = os.environ.get(FILE_VARIABLE)
    path = Path(named) if named else Path.home() / ".config" / "nashdex" / "players.toml"
    if not named and not path.exists():
        return {}
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}, the players of this machine, cannot be read: {error}") from error
    players = {}
    for name, table in tables.items():
        if not re.fullmatch(ID_PATTERN, name):
            raise ConfigurationError(f"{path}: player {name!r}: expected lower-case letters, digits, '.' and '-'")
        try:
            players[name] = ExternalPlayer.model_validate(table)
        except ValidationError as error:
            raise ConfigurationError(f"{path}: player {name!r}: {describe_problems(error)}") from error
    return players


def is_external(policy: str) -> bool:
    """Say whether a policy's id or name means a player of another program."""
    return policy.startswith(PREFIX)


def declared_player(policy: str) -> ExternalPlayer:
    """Return the declaration of ``external:NAME``.

    Raises:
        ConfigurationError: this machine declares no such player.
    """
    name, players = policy.removeprefix(PREFIX), external_players()
    if name not in players:
        known = f"it declares {', '.join(players)}" if players else "it declares none"
        raise ConfigurationError(
            f"this machine declares no player {name!r}: {known}. Add a table [{name}] to the file that "
            f"{FILE_VARIABLE} names, by default ~/.config/nashdex/players.toml"
        )
    return players[name]


def named_player(text: str) -> tuple[str, ExternalPlayer]:
    """Return the id and the declaration of ``external:NAME`` or ``external:module:Class``.

    The second form is for what a person writes on a command line: it needs no declaration. Nothing that a store holds
    may be read by this function.

    Raises:
        ConfigurationError: this machine declares no such player.
    """
    named = text.removeprefix(PREFIX)
    if re.fullmatch(CLASS_PATTERN, named):
        return f"{PREFIX}{id_of_text(named, _MAX_ID, 'player')}", ExternalPlayer.model_validate({"class": named})
    return text, declared_player(text)
