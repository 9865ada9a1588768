"""``nashdex experiment``: arms × seeds, and what they show."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex_cli.commands.cluster.cluster_options import ContextOption, NamespaceOption, ServerOption
from nashdex_cli.commands.groups import CommandGroup
from nashdex_cli.commands.output import JsonOption, print_answer, print_note

if TYPE_CHECKING:
    from nashdex_lab.experiments.places import Place
    from nashdex_lab.experiments.report import ExperimentReport

app = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, help="Compare settings: arms × seeds, judged by a rule stated beforehand."
)

_PlanArgument = Annotated[Path, typer.Argument(metavar="FILE.toml", help="Plan of the experiment.")]


@app.command()
def run(
    plan: _PlanArgument,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URI", help="Store of its runs, as this machine reaches it. [default: runs, or the cluster's]"
        ),
    ] = None,
    on_cluster: Annotated[
        bool, typer.Option("--cluster", help="Submit the runs to the cluster, and follow them.")
    ] = False,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run every arm and seed that is not done, and measure it; write FILE.results.json and the page FILE.md.

    Finished runs are kept. Ctrl-C stops all processes; run the same command to continue. With --cluster, each run is
    a Workflow and continues after Ctrl-C; this machine plays the battles that measure policies.
    """
    from nashdex.store import open_store
    from nashdex_cli.commands.cluster.experiment_runs import cluster_runs
    from nashdex_lab.experiments.page import publish
    from nashdex_lab.experiments.places import ThisMachine, logs_folder
    from nashdex_lab.experiments.plan import read_plan
    from nashdex_lab.experiments.running import ExperimentOptions, run_experiment

    read = read_plan(plan)
    if on_cluster:
        place: Place = cluster_runs(store=store, namespace=namespace, context=context, server=server)
    elif named := [key for key, value in (("-n", namespace), ("--context", context), ("--server", server)) if value]:
        raise ConfigurationError(f"{named[0]} has no effect without --cluster: add --cluster, or leave it out")
    else:
        place = ThisMachine(store or "runs")  # as typed: commands in the results hold no machine's folders
        open_store(place.store)
    options = ExperimentOptions(
        place=place,
        logs=logs_folder(place.store, read.name),
        say=print_note,
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
def register(plan: _PlanArgument, as_json: JsonOption = False) -> None:
    """Register what the plan compares, and how, before the first run; write FILE.results.json. Runs nothing.

    `nashdex experiment run` does so too. Commit the file to show when it was. What is registered cannot change after
    the first run began.
    """
    from nashdex_lab.experiments.plan import read_plan
    from nashdex_lab.experiments.running import RESULTS_SUFFIX
    from nashdex_lab.experiments.running import register as register_plan

    read = read_plan(plan)
    found = register_plan(read)
    lines = [
        f"registered {found.registered}{', after runs had begun' if found.is_after_runs else ''}: {found.digest}",
        read.experiment.verdict.words(read.experiment.comparisons),
        str(read.beside(RESULTS_SUFFIX)),
    ]
    print_answer(found, lines, as_json=as_json)


@app.command()
def report(plan: _PlanArgument, as_json: JsonOption = False) -> None:
    """Write the page FILE.md from the results so far: table, learning curves, verdict. Runs nothing."""
    from nashdex_lab.experiments.commands import as_typed
    from nashdex_lab.experiments.page import publish
    from nashdex_lab.experiments.plan import read_plan
    from nashdex_lab.experiments.records import read_results
    from nashdex_lab.experiments.running import RESULTS_SUFFIX

    read = read_plan(plan)
    results = read_results(read.beside(RESULTS_SUFFIX))
    if results is None:
        raise DataError(
            f"{plan} has no results yet: expected {read.beside(RESULTS_SUFFIX).name} beside it; "
            f"`{as_typed(['experiment', 'run', str(plan)])}` makes them"
        )
    _show(publish(read, results), read.beside(".md"), as_json=as_json)


def _show(found: "ExperimentReport", written: Path, *, as_json: bool) -> None:
    print_answer(found, [*found.verdict, str(written)], as_json=as_json)
