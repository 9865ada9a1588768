"""``nashdex solve``: the equilibrium of a game in a file."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text


def solve(
    matrix: Annotated[Path, typer.Argument(metavar="MATRIX.json", help="Counts or payoffs.")],
    meta_solver: Annotated[str, typer.Option(metavar="NAME", help="How to solve it.")] = "nash",
    as_json: JsonOption = False,
) -> None:
    """Solve a game."""
    del matrix, meta_solver, as_json, print_json, print_text
