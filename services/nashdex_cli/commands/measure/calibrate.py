"""``nashdex calibrate``: how often the intervals of a run hold the truth."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.machine import usable_cores
from nashdex.core.stopping import check_stop, install_stop_handlers
from nashdex_cli.commands.output import JsonOption, print_answer
from nashdex_cli.commands.run_options import SeedOption

if TYPE_CHECKING:
    from nashdex.metagame.calibration.documents import Calibration


def calibrate(
    source: Annotated[
        str, typer.Argument(metavar="RUN_URI|COUNTS.json", help="A run, or a file of counts as for `nashdex rate`.")
    ],
    sets: Annotated[int, typer.Option(min=10, max=100_000, help="Tournaments to simulate.")] = 400,
    seed: SeedOption = 0,
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="Processes. [default: one for each core]", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate tournaments of this design and print how often each published interval holds the truth.

    A simulated tournament has the same policies, battles, side-swapped pairs and their correlation, meta-solver, and
    choice of the best; its true payoffs are those that were measured. It warns where a coverage differs from its
    nominal value by more than 1 % and by more than chance explains. The result of a run is stored in it, and
    `nashdex report` then shows it.
    """
    install_stop_handlers()
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from nashdex.core import keys
    from nashdex.runs.creation import open_run
    from nashdex_lab.coverage import calibrating

    opened, iteration = None, 0
    if source.endswith(".json") or Path(source).is_file():
        design = calibrating.design_of_counts(Path(source))
    else:
        opened = open_run(source)
        design, iteration = calibrating.design_of_run(opened.store, opened.settings.solve)
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task("tournaments", total=sets)

        def advance() -> None:
            progress.advance(task)
            check_stop()

        result = calibrating.calibrate(
            design,
            num_sets=sets,
            seed=seed,
            processes=processes or usable_cores(),
            on_set=advance,
        )
    print_answer(result, _table(result), as_json=as_json)
    if opened is not None:  # after the output: the store may be readable alone
        opened.store.put(keys.published(iteration, keys.CALIBRATION), result.to_json())


def _table(result: "Calibration") -> Iterator[str]:
    width = max(len(number.name) for number in result.numbers)
    yield f"{'number':<{width}}  nominal  coverage  standard error  sets"
    for number in result.numbers:
        at_least = "≥" if number.conservative else " "
        yield (
            f"{number.name:<{width}}   {at_least}{number.nominal:.3f}     {number.coverage:.3f}           "
            f"{number.standard_error:.3f}  {number.sets:>4}"
        )
    yield (
        f"{result.policies} policies, {result.battles:,} battles a tournament, correlation of a pair "
        f"{result.correlation:+.2f}; {result.seconds:.0f} s"
    )
    for warning in result.warnings:
        yield f"warning: {warning}"
