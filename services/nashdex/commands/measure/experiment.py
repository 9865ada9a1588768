"""``nashdex experiment``: arms × seeds, and what they show."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.core.errors import DataError, TryAgainError

if TYPE_CHECKING:
    from nashdex.experiments.report import ExperimentReport

app = typer.Typer(no_args_is_help=True, help="Compare settings: arms × seeds, judged by a rule stated beforehand.")

_PlanArgument = Annotated[Path, typer.Argument(metavar="FILE.toml", help="Plan of the experiment.")]


@app.command()
def run(
    plan: _PlanArgument,
    store: Annotated[str, typer.Option(metavar="URI", help="Store of its runs.")] = "runs",
    as_json: JsonOption = False,
) -> None:
    """Run every arm and seed that is not done, and measure it; write FILE.results.json and the page FILE.md.

    Finished runs are kept. Ctrl-C stops all processes; run the same command to continue.
    """
    from nashdex.experiments.places import logs_folder
    from nashdex.experiments.plan import read_plan
    from nashdex.experiments.publishing import publish
    from nashdex.experiments.running import ExperimentOptions, run_experiment

    read = read_plan(plan)
    options = ExperimentOptions(
        store=store,
        logs=logs_folder(store, read.name),
        say=lambda line: print(line, file=sys.stderr, flush=True),  # noqa: T201 - the results are on standard output
        on_change=lambda results: publish(read, results),
    )
    found = publish(read, run_experiment(read, options))
    _show(found, read.beside(".md"), as_json=as_json)
    failed = [one for one in found.runs if one.status == "failed"]
    if failed:
        raise TryAgainError(
            f"{len(failed)} of {len(found.runs)} runs failed, the first one with: {failed[0].reason}; the same command "
            "tries them again"
        )


@app.command()
def report(plan: _PlanArgument, as_json: JsonOption = False) -> None:
    """Write the page FILE.md from the results so far: table, learning curves, verdict. Runs nothing."""
    from nashdex.experiments.plan import read_plan
    from nashdex.experiments.publishing import publish
    from nashdex.experiments.records import read_results
    from nashdex.experiments.running import RESULTS_SUFFIX

    read = read_plan(plan)
    results = read_results(read.beside(RESULTS_SUFFIX))
    if results is None:
        raise DataError(f"{read.beside(RESULTS_SUFFIX)} is missing: run `nashdex experiment run {plan}` first")
    _show(publish(read, results), read.beside(".md"), as_json=as_json)


def _show(found: "ExperimentReport", written: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_text(found.verdict)
        print_text(str(written))
