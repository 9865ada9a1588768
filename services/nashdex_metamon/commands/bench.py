"""``nashdex bench view``, ``parity`` and ``baselines``: metamon's views and baselines, measured."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_answer, print_json, print_text
from nashdex_cli.commands.run_options import SeedOption

FormatOption = Annotated[str, typer.Option("--format", metavar="FORMAT", help="Showdown format, such as gen9ou.")]


def view(
    format_id: FormatOption,
    observation_space: Annotated[str, typer.Option(help="Metamon's name.")] = "OpponentMoveObservationSpace",
    action_space: Annotated[str, typer.Option(help="Metamon's name.")] = "DefaultActionSpace",
    battles: Annotated[int, typer.Option(min=1, max=100_000, help="Battles of random choices.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """Measure the CPU time of one of metamon's views for a decision, without the gateway's share."""
    from nashdex_metamon.bench.views import bench_view

    result = bench_view(format_id, observation_space, action_space, battles=battles)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    print_text(
        f"{result.format}, {result.view}: {result.mean_microseconds:.0f} µs a decision over {result.num_decisions:,} "
        f"decisions, median {result.median_microseconds:.0f} µs"
    )


def baselines(
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="FORMAT", help="One of several. [default: OU of generations 1 to 4 and 9]"),
    ] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="NAME", help="One of several. [default: metamon's four best, and BugCatcher]"),
    ] = None,
    battles: Annotated[int, typer.Option(min=2, max=1_000_000, help="Battles of each pair in each format.")] = 100,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Play metamon's baselines against each other, every pair in every format, and print a table for each."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from nashdex_metamon.bench.baselines import BASELINES, FORMATS, bench_baselines, lines

    names, players = formats or FORMATS, policies or BASELINES
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("matches", total=len(names) * len(players) * (len(players) - 1) // 2)
        result = bench_baselines(names, players, battles, seed, on_match=lambda: progress.advance(task))
    print_answer(result, lines(result), as_json=as_json)


def parity(
    goldens: Annotated[
        Path, typer.Argument(metavar="GOLDENS", help="Folder with battles/ID.json.gz and spaces/ID.json.gz.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Compare an imported checkpoint's observations here and in metamon's own code, decision by decision.

    `equal`: every text and number of every observation space. Prints each differing field of a state, with the first
    decision of the difference. Exits with 65 if a decision differs.
    """
    from nashdex.core.errors import DataError
    from nashdex_metamon.bench.parity import measure_parity, parity_lines

    found = measure_parity(goldens)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        for line in parity_lines(found):
            print_text(line)
    if not found.is_equal:
        raise DataError(f"{found.num_decisions - found.num_equal} of {found.num_decisions} decisions differ")
