"""How a group of commands lists them in its help."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from nashdex.core.errors import ConfigurationError

_NO_PANEL = "Commands"
_WHOLE_SENTENCE = 1_000
"""Longer than the first sentence of any command's help, which click would cut."""


class CommandGroup(TyperGroup):
    """Lists the commands by panel, each with the whole first sentence of its help.

    Plain text, not rich's boxes: importing rich takes longer than everything else that ``nashdex --help`` does.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's types are private
        """Print the help where no command is given.

        Raises:
            ConfigurationError: none is given.
        """
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            raise ConfigurationError("no command was given; choose one of these")
        return super().parse_args(ctx, args)

    def by_panel(self, ctx: Any) -> dict[str, list[TyperCommand | TyperGroup]]:  # noqa: ANN401 - as above
        """Return the commands of each panel that help shows, panels in the order of their first commands."""
        panels: dict[str, list[TyperCommand | TyperGroup]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            assert isinstance(command, TyperCommand | TyperGroup)
            if not command.hidden:
                panels.setdefault(command.rich_help_panel or _NO_PANEL, []).append(command)
        return panels

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write one section for each panel."""
        for panel, commands in self.by_panel(ctx).items():
            with formatter.section(panel):
                formatter.write_dl([(each.name, each.get_short_help_str(_WHOLE_SENTENCE)) for each in commands])
