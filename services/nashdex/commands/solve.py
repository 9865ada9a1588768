"""``nashdex solve``: the equilibrium of a game in a file."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text


def solve(
    matrix: Annotated[Path, typer.Argument(metavar="MATRIX.json", help="Counts, or payoffs to the row player.")],
    meta_solver: Annotated[
        str, typer.Option(metavar="NAME", help="Chooses the mixture; an unknown name gets the list.")
    ] = "nash",
    as_json: JsonOption = False,
) -> None:
    """Solve a game in a file, such as a run's interaction_matrix.json.

    One population answers with meta_strategy, two with row_strategy and column_strategy. Counts are of one population,
    and so are payoffs that are square and antisymmetric, or marked "symmetric": true.
    """
    from nashdex.metagame.meta_solvers import meta_solver as find_solver
    from nashdex.solver import matrix_file

    find_solver(meta_solver)
    answer = matrix_file.solve(matrix_file.read(matrix), meta_solver)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    if isinstance(answer, matrix_file.SymmetricAnswer):
        print_text(_mixture("meta-strategy", answer.meta_strategy))
    else:
        print_text(_mixture("row strategy", answer.row_strategy))
        print_text(_mixture("column strategy", answer.column_strategy))
    print_text(f"value {answer.value:.6g}, restricted exploitability {answer.restricted_exploitability:.3g}")
    choice = "" if answer.unique else ", one of many"
    print_text(f"{answer.meta_solver}: {answer.status}{choice}, residual {answer.residual:.3g}")


def _mixture(title: str, strategy: dict[str, float]) -> str:
    shares = sorted(strategy.items(), key=lambda share: -share[1])
    return "\n".join([f"{title}:", *(f"  {probability:.6f}  {policy}" for policy, probability in shares)])
