"""``nashdex solve``: a meta-solver's mixture for a game in a file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from nashdex_cli.commands.output import JsonOption, print_json, print_text

if TYPE_CHECKING:
    from nashdex.solver.matrix_answer import Uncertainty

_RARE = 1e-6
"""Smaller probabilities are counted instead of listed."""
_ROUNDED_DECIMALS = 15
"""Significant decimals of payoffs near 1."""


class SolveCommand(TyperCommand):
    """``nashdex solve``, whose help lists the meta-solvers, also of installed packages."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's types are private
        """Add each meta-solver's mixture and settings. Only help imports them."""
        self.epilog = "\n\n".join(["Meta-solvers and the settings that --set takes:", *_meta_solver_lines()])
        super().format_help(ctx, formatter)


def _meta_solver_lines() -> Iterator[str]:
    from nashdex.metagame.solvers.registry import META_SOLVERS

    for name, solver in META_SOLVERS.all().items():
        fields = ((key, solver.settings.model_fields[key]) for key in solver.parameters)
        settings = (
            f" {key} ({'unset' if field.default is None else field.default}): {field.description}"
            for key, field in fields
        )
        yield "".join([f"{name}: {solver.summary}.", *settings])


def solve(
    matrix: Annotated[
        str,
        typer.Argument(
            metavar="MATRIX.json", help="Counts, or payoffs to the row player; or a run's URI, for its newest ones."
        ),
    ],
    *,
    meta_solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Meta-solver that chooses the mixture; listed below. [default: the run's own, else nash]",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the meta-solver. Repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Solve a game in a file, such as a run's interaction_matrix.json, or a run's newest one.

    One population answers with meta_strategy, two with row_strategy and column_strategy. Counts are of one population,
    and so are payoffs that are square and antisymmetric, or marked "symmetric": true. The run's own meta-solver gives
    the mixture and the intervals that its newest iteration published.
    """
    from nashdex.core import keys
    from nashdex.core.user_input import parse_assignment
    from nashdex.metagame.solvers.registry import configured
    from nashdex.metagame.solvers.registry import meta_solver as configured_solver
    from nashdex.runs.creation import open_run
    from nashdex.solver import matrix_answer, matrix_file

    values = dict(parse_assignment(text, "temperature=0.5") for text in set_ or ())
    solver, draws = configured_solver(meta_solver or "nash", **values), matrix_answer.Draws()
    solved = matrix_file.newest_solved(matrix)
    of_run: dict[str, Any] = {}
    if solved is not None and solved[0].exists(keys.CONFIG):
        settings = open_run(matrix).settings
        draws = matrix_answer.draws_of_run(settings, solved[1].iteration)
        of_run = {"unplayed": settings.solve.unplayed, "history": matrix_file.published_history(solved)}
        if meta_solver is None and not values:
            solver = configured(settings.solve.meta_solver)
    answer = matrix_answer.solve(matrix_file.game_in(*matrix_file.load(matrix, solved), **of_run), solver, draws)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    if isinstance(answer, matrix_answer.SymmetricAnswer):
        print_text(_mixture("meta-strategy", answer.meta_strategy, answer.uncertainty))
    else:
        print_text(_mixture("row strategy", answer.row_strategy))
        print_text(_mixture("column strategy", answer.column_strategy))
    with_parameters = ", ".join(f"{name} {value:g}" for name, value in answer.parameters.items())
    found = answer.uncertainty if isinstance(answer, matrix_answer.SymmetricAnswer) else None
    gain = "not shown, because a policy of the mixture has not met all others"
    if answer.restricted_exploitability is not None:
        gain = _shown(answer.restricted_exploitability)
    if found is not None and (true := found.largest_gain) is not None:
        gain += f" [{true.low:.4f}, {true.high:.4f}] (95 %); {true.value:.4f} expected in the true game"
    facts = {
        "value": _shown(answer.value),
        "restricted exploitability": gain,
        "meta-solver": f"{answer.meta_solver} ({with_parameters})" if with_parameters else answer.meta_solver,
        "status": answer.status if answer.unique else f"{answer.status}, one of many",
        "residual": f"{_shown(answer.residual)} ({answer.promise})",
    }
    width = max(map(len, facts))
    print_text("\n".join(f"{name:<{width}}  {fact}" for name, fact in facts.items()))


def _shown(number: float) -> str:
    return f"{round(number, _ROUNDED_DECIMALS) + 0.0:.4g}"


def _mixture(title: str, strategy: dict[str, float], uncertainty: "Uncertainty | None" = None) -> str:
    played = [(policy, share) for policy, share in strategy.items() if share >= _RARE]

    def sure(policy: str) -> str:
        if uncertainty is None:
            return ""
        interval = uncertainty.meta_strategy[policy]
        return f"  [{interval.low:.3f}, {interval.high:.3f}]"

    lines = [f"  {share:.6f}{sure(policy)}  {policy}" for policy, share in sorted(played, key=lambda entry: -entry[1])]
    if rare := len(strategy) - len(played):
        lines.append(f"  {rare} more below {_RARE:g}")
    return "\n".join([title, *lines, ""])
