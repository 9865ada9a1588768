"""``nashdex bench``: a group whose commands come from installed packages, most of them from nashdex-bench."""

from typing import Any

import typer

from nashdex.core.errors import ConfigurationError
from nashdex_cli.commands.added import COMMANDS
from nashdex_cli.commands.groups import CommandGroup


class _Benchmarks(CommandGroup):
    """Says what to install where nashdex-bench is missing. Benchmarks of other packages run without it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's types are private
        if "bench" not in COMMANDS and (not args or args[0] not in self.commands):
            raise ConfigurationError(
                "nashdex bench needs the Python package nashdex-bench; install it with: pip install 'nashdex[bench]' "
                "(make setup in a checkout)"
            )
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_Benchmarks, no_args_is_help=True, help="Measure how fast this machine is.")


@app.callback()
def bench() -> None:
    """Measure how fast this machine is."""
