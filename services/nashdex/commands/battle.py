"""``nashdex battle``: a match between two policies, outside any run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text

_POLICY = (
    "A scripted policy (random, max-power, heuristic, first-action, …), RUN_URI#POLICY_ID or RUN_URI#nash. "
    "POLICY_ID@greedy plays the most probable action, POLICY_ID@T0.5 samples at temperature 0.5; without a suffix it samples at 1."
)


def battle(
    format_id: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Format, such as gen1ou or kuhn_poker.")],
    p1: Annotated[str, typer.Option(metavar="POLICY", help=_POLICY)],
    p2: Annotated[str, typer.Option(metavar="POLICY", help=_POLICY)],
    battles: Annotated[int, typer.Option(min=1, max=10_000_000, help="Battles in total, as side-swapped pairs.")] = 100,
    matrix: Annotated[
        Path | None, typer.Option(metavar="MATRIX.json", help="Payoffs, for format matrix: see `nashdex solve --help`.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of every seed.")] = 0,
    gateways: Annotated[int, typer.Option(min=1, max=64, help="Simulator processes.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Play two policies against each other and print the first one's results.

    Both battles of a pair have the same two teams, with the seats swapped; an odd last battle has no partner. In a game
    for stakes, win_rate is the mean score: ½ + payoff / (2 · the game's largest payoff).
    """
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from nashdex.evaluator.match import play_match
    from nashdex.runs.inputs import read_matrix

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task(f"{p1} against {p2}", total=battles)
        result = play_match(
            format_id,
            p1,
            p2,
            battles=battles,
            matrix=None if matrix is None else read_matrix(matrix),
            seed=seed,
            num_gateways=gateways,
            on_battle=lambda ended: progress.update(task, completed=ended),
        )
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    if result.win_rate is not None:
        print_text(f"{p1} scores {result.win_rate:.3f} [{result.low:.3f}, {result.high:.3f}] against {p2}")
    print_text(f"{result.wins} wins, {result.losses} losses, {result.draws} draws, {result.failed} failed")
    print_text(f"{result.decisions:,} decisions in {result.seconds:.1f} s")
