"""How a group of commands lists them in its help."""

from typing import Any

import typer
from typer.core import TyperGroup

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

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's types are private
        """Write one section for each panel, in the order of its first command."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or _NO_PANEL
                sections.setdefault(panel, []).append((name, command.get_short_help_str(_WHOLE_SENTENCE)))
        for panel, commands in sections.items():
            with formatter.section(panel):
                formatter.write_dl(commands)
