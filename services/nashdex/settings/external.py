"""Players of other programs, as this machine declares them: a file of the machine's own, never a store's.

``NASHDEX_PLAYERS`` names the file; by default it is ``~/.config/nashdex/players.toml``. Each table is one player, and
its name follows ``external:`` wherever a policy is named.
"""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Final, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from nashdex.core.address import AddressText
from nashdex.core.documents import describe, nearest_keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import ID_PATTERN, id_of_text
from nashdex.core.section import Section
from nashdex.core.user_input import did_you_mean

PREFIX: Final = "external:"
FILE_VARIABLE: Final = "NASHDEX_PLAYERS"
CLASS_PATTERN: Final = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"
_MAX_ID: Final = 63


PLACEHOLDERS: Final = ("websocket", "host", "port", "username", "opponent", "format", "battles")
"""Placeholders of a command: the server, the two users, the format, and the number of battles left."""
_BY_WEBSOCKET: Final = ("username", "challenges", "restarts", "pause_seconds")


class ExternalPlayer(Section):
    """One player of another program: a class, over a pipe or at an address, or a program that plays by websocket."""

    player_class: str | None = Field(
        None,
        alias="class",
        pattern=CLASS_PATTERN,
        description="A poke-env Player as module:Class. It plays in child processes, without a server.",
    )
    command: str | None = Field(
        None, description="Command line of a program that plays on a local Showdown server. No shell reads it."
    )
    address: AddressText | None = Field(
        None,
        description="HOST:PORT of a class that plays in a container or on a machine of its own, by "
        "`python -m nashdex.games.showdown.external_player CLASS --listen HOST:PORT`.",
    )
    server: AddressText | None = Field(
        None,
        description="HOST:PORT of a Showdown server where a program accepts challenges by itself, as `username`.",
    )
    folder: Path | None = Field(None, description="Working directory; by default this command's.")
    decision_seconds: float = Field(30.0, gt=0, le=3600, description="Longest time for one decision.")
    start_seconds: float = Field(
        60.0,
        gt=0,
        le=3600,
        description="Longest time until a class is loaded, or until a program's next battle begins.",
    )
    at_once: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Battles at once. By default a class plays 4, each in its own process, and a program 1.",
    )
    username: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9]{1,18}$",
        description="Name that the program takes on the server; by default {username} gives it one.",
    )
    challenges: bool = Field(
        default=False, description="Whether the program challenges {opponent}, instead of accepting challenges."
    )
    restarts: int = Field(
        10, ge=0, le=1000, description="Most restarts of a program in a row without a finished battle."
    )
    pause_seconds: float = Field(
        1.0, ge=0, le=3600, description="Time between a battle's end and the next challenge, for programs that miss it."
    )

    @property
    def most_at_once(self) -> int:
        """Battles at once."""
        return self.at_once or (1 if self.plays_by_websocket else _AT_ONCE)

    @property
    def plays_by_websocket(self) -> bool:
        """Whether it is a program on a Showdown server."""
        return self.command is not None or self.server is not None

    @field_validator("folder")
    @classmethod
    def _expand(cls, folder: Path | None) -> Path | None:
        return None if folder is None else folder.expanduser()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if [self.player_class, self.command, self.address, self.server].count(None) != _ALL_BUT_ONE:
            raise ValueError("expected exactly one of 'class', 'address', 'command' and 'server'")
        if self.folder is not None and (self.address or self.server):
            raise ValueError("'folder' is for a 'class' or a 'command'; remove it")
        if not self.plays_by_websocket:
            odd = sorted(self.model_fields_set.intersection(_BY_WEBSOCKET))
            if odd:
                raise ValueError(f"{', '.join(map(repr, odd))} is for a 'command' or a 'server'; remove it")
        if self.command is not None:
            self._check_command(self.command)
        if self.server is not None and self.username is None:
            raise ValueError("'server' needs 'username', the program's name there")
        if self.server is not None and self.challenges:
            raise ValueError("'challenges' is for a 'command': at a 'server' the program accepts challenges; remove it")
        return self

    def _check_command(self, command: str) -> None:
        named = placeholders_of(command)
        if not named & {"websocket", "port"}:
            raise ValueError("the command names neither {websocket} nor {port}: the program must find the server")
        if "username" not in named and self.username is None:
            raise ValueError("the command does not name {username}: add it, or the key 'username' with a fixed name")
        if self.challenges and "opponent" not in named:
            raise ValueError("the command does not name {opponent}, the user that the program challenges")


_KEYS: Final = tuple(field.alias or name for name, field in ExternalPlayer.model_fields.items())
_AT_ONCE: Final = 4
_ALL_BUT_ONE: Final = 3


def placeholders_of(command: str) -> frozenset[str]:
    """Return the names in braces of a command line.

    Raises:
        ValueError: a name is unknown, or quotes or braces are not closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command's quotes are not closed ({error})") from error
    if not words:
        raise ValueError("the command is empty")
    named = set()
    for word in words:
        try:
            parts = list(Formatter().parse(word))
        except ValueError as error:
            raise ValueError(f"{word!r} has a single brace ({error}); write {{{{ or }}}} for a brace") from error
        for _, name, form, conversion in parts:
            if name is None:
                continue
            if name not in PLACEHOLDERS or form or conversion:
                known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
                raise ValueError(
                    f"{word!r} has an unknown placeholder; expected one of {known}, and {{{{ or }}}} for a brace"
                )
            named.add(name)
    return frozenset(named)


def arguments_of(command: str, values: Mapping[str, str]) -> list[str]:
    """Return a command line's words with ``values`` for their names in braces. A value never becomes two words."""
    return [word.format_map(values) for word in shlex.split(command)]


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
            why = describe(error.errors(include_url=False), nearest_keys(_KEYS))
            raise ConfigurationError(f"{path}: player {name!r}: {why}") from error
    return players


def is_external(policy: str) -> bool:
    """Say whether a policy's id or name means a player of another program."""
    return policy.startswith(PREFIX)


def declared_player(policy: str) -> ExternalPlayer:
    """Return the declaration of ``external:NAME``.

    Raises:
        ConfigurationError: this machine declares no such player, or its folder does not exist.
    """
    name, players = policy.removeprefix(PREFIX), external_players()
    if not name:
        raise ConfigurationError(f"{policy!r} names no player; expected external:NAME or external:module:Class")
    if name not in players:
        known = f"it declares {', '.join(players)}" if players else "it declares none"
        raise ConfigurationError(
            f"this machine declares no player {name!r}: {did_you_mean(name, players)}{known}. Add a table [{name}] to "
            f"the file that {FILE_VARIABLE} names, by default ~/.config/nashdex/players.toml"
        )
    folder = players[name].folder
    if folder is not None and not folder.is_dir():
        raise ConfigurationError(f"player {name!r}: its folder {folder} does not exist; correct it in players.toml")
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


def declared_program(text: str) -> ExternalPlayer | None:
    """Return the declaration of ``external:NAME`` on a command line if it is a program that plays by websocket.

    Raises:
        ConfigurationError: this machine declares no such player.
    """
    declared = named_player(text)[1] if is_external(text) else None
    return declared if declared is not None and declared.plays_by_websocket else None
