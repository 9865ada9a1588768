"""``nashdex solve``: the mixture that a meta-solver chooses for a game in a file."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.core.errors import ConfigurationError

META_SOLVER_NAMES = (
    "nash",
    "regret-matching",
    "prd",
    "alpha-rank",
    "magnet",
    "rectified-nash",
    "uniform",
    "last",
    "last-k",
    "recency",
)
"""Those of ``metagame.meta_solvers``, which --help is too quick to import."""
_RARE = 1e-6
"""Probabilities below this are left out of the lines for people, and counted."""
_ROUNDED_DECIMALS = 15
"""What is smaller is rounding, of payoffs near 1."""


def solve(
    matrix: Annotated[Path, typer.Argument(metavar="MATRIX.json", help="Counts, or payoffs to the row player.")],
    *,
    meta_solver: Annotated[
        str, typer.Option(metavar="NAME", help=f"What chooses the mixture: {', '.join(META_SOLVER_NAMES)}.")
    ] = "nash",
    alpha: Annotated[
        float | None, typer.Option(help="alpha-rank: selection intensity; by default swept until it is stable.")
    ] = None,
    population_size: Annotated[int | None, typer.Option(help="alpha-rank: individuals in a population (50).")] = None,
    temperature: Annotated[float | None, typer.Option(help="magnet: pull towards uniform, in payoff (0.1).")] = None,
    last_k: Annotated[int | None, typer.Option(help="last-k: how many of the newest policies (5).")] = None,
    recency_temperature: Annotated[
        float | None, typer.Option(help="recency: policies after which a weight has fallen to 1/e (1).")
    ] = None,
    num_iterations: Annotated[
        int | None, typer.Option(help="regret-matching and prd; magnet, at most (100000).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Solve a game in a file, such as a run's interaction_matrix.json.

    One population answers with meta_strategy, two with row_strategy and column_strategy. Counts are of one population,
    and so are payoffs that are square and antisymmetric, or marked "symmetric": true.
    """
    from nashdex.metagame.solvers.registry import SolverParameters
    from nashdex.metagame.solvers.registry import meta_solver as find_solver
    from nashdex.solver import matrix_answer, matrix_file

    flags: dict[str, Any] = {
        "alpha": alpha,
        "population_size": population_size,
        "temperature": temperature,
        "last_k": last_k,
        "recency_temperature": recency_temperature,
        "num_iterations": num_iterations,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    _refuse_without_effect(given, meta_solver, find_solver(meta_solver).reads)
    answer = matrix_answer.solve(matrix_file.read(matrix), meta_solver, SolverParameters(**given))
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    if isinstance(answer, matrix_answer.SymmetricAnswer):
        print_text(_mixture("meta-strategy", answer.meta_strategy))
    else:
        print_text(_mixture("row strategy", answer.row_strategy))
        print_text(_mixture("column strategy", answer.column_strategy))
    with_parameters = ", ".join(f"{name} {value:g}" for name, value in answer.parameters.items())
    facts = {
        "value": _shown(answer.value),
        "restricted exploitability": _shown(answer.restricted_exploitability),
        "meta-solver": f"{answer.meta_solver} ({with_parameters})" if with_parameters else answer.meta_solver,
        "status": answer.status if answer.unique else f"{answer.status}, one of many",
        "residual": f"{_shown(answer.residual)} ({answer.promise})",
    }
    width = max(map(len, facts))
    print_text("\n".join(f"{name:<{width}}  {fact}" for name, fact in facts.items()))


def _refuse_without_effect(given: Iterable[str], solver_name: str, reads: Collection[str]) -> None:
    idle = [name for name in given if name not in reads]
    if idle:
        able = ", ".join(_flag(name) for name in sorted(reads)) or "no parameter"
        raise ConfigurationError(
            f"{_flag(idle[0])} has no effect with meta-solver {solver_name!r}, which takes {able}; leave it out"
        )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _shown(number: float) -> str:
    return f"{round(number, _ROUNDED_DECIMALS) + 0.0:.4g}"


def _mixture(title: str, strategy: dict[str, float]) -> str:
    played = [(policy, share) for policy, share in strategy.items() if share >= _RARE]
    lines = [f"  {share:.6f}  {policy}" for policy, share in sorted(played, key=lambda entry: -entry[1])]
    if rare := len(strategy) - len(played):
        lines.append(f"  {rare} more below {_RARE:g}")
    return "\n".join([title, *lines, ""])
