"""Commands of installed packages, by entry point: ``nashdex.commands``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import typer

from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Registry


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command or group of commands. The name of its entry point is what a user types after ``nashdex``.

    ``data`` is a command or group of its own; ``bench view`` is a command below the group ``bench``. A group with the
    name of one that is there, such as ``bench``, adds its commands to it. Heavy imports belong inside the functions, so
    that ``--help`` is instant.
    """

    run: Callable[..., Any] | typer.Typer
    """The function whose parameters are the command's, or the group."""
    panel: str | None = None
    """The part of ``nashdex --help`` that lists it."""


COMMANDS: Final = Registry("nashdex.commands", "command", Command, {})


def add_commands(app: typer.Typer, groups: Mapping[str, typer.Typer]) -> None:
    """Add the commands of installed packages to ``app``, or to the one of ``groups`` that their names begin with.

    Raises:
        ConfigurationError: a package cannot be imported, or names a group that there is not.
    """
    for name, added in COMMANDS.all().items():
        group, _, last = name.rpartition(" ")
        if group and group not in groups:
            raise ConfigurationError(
                f"an installed package adds the command {name!r} to the group {group!r}; expected a group among "
                f"{', '.join(groups)}"
            )
        place = groups[group] if group else app
        if isinstance(added.run, typer.Typer) and name in groups:
            groups[name].add_typer(added.run)
        elif isinstance(added.run, typer.Typer):
            place.add_typer(added.run, name=last, rich_help_panel=added.panel)
        else:
            place.command(last, rich_help_panel=added.panel)(added.run)
