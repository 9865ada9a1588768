"""``nashdex status``: progress of the runs on a cluster."""

import sys
from typing import Annotated

import typer

from nashdex_cli.commands.cluster.cluster_options import ContextOption, NamespaceOption, ServerOption
from nashdex_cli.commands.output import JsonOption, print_json


def status(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Run id, or its URI in a store. [default: one line per run]")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Watch the run until it ends; exit with its status.")
    ] = False,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the progress of a run on a cluster by iteration, step and shard, or list all runs.

    Given the run's URI, such as s3://bucket/prefix/RUN, show from the store how fast its trainings with actors are:
    decisions and battles a second, the age of the playing weights, and the shares of waiting.
    """
    if run is not None and "/" in run:
        _print_rates(run, watch=watch, as_json=as_json)
        return
    from rich.console import Console

    from nashdex.core.errors import ConfigurationError
    from nashdex_cli.commands.cluster.follow import follow, run_table, runs_table
    from nashdex_cluster.connection import connect
    from nashdex_cluster.status import run_status
    from nashdex_cluster.submission import find_workflows

    if watch and run is None:
        raise ConfigurationError("--watch needs a run: `nashdex status RUN --watch`")
    cluster = connect(namespace=namespace, context=context, server=server)
    # Wide if it is not a terminal, so that a file has the whole table.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    if run is None:
        workflows = find_workflows(cluster)
        names = dict.fromkeys(w.run for w in sorted(workflows, key=lambda w: w.created, reverse=True) if w.run)
        statuses = [run_status(name, [w for w in workflows if w.run == name]) for name in names]
        if as_json:
            print_json({"runs": [status.as_json() for status in statuses]})
        else:
            none = f"namespace {cluster.namespace} has no runs; -n names another namespace"
            console.print(runs_table(statuses) if statuses else none)
        return
    found = (
        follow(cluster, run, sys.stderr if as_json else sys.stdout)
        if watch
        else run_status(run, find_workflows(cluster, run))
    )
    if as_json:
        print_json(found.as_json())
    elif not watch:
        console.print(run_table(found))


def _print_rates(uri: str, *, watch: bool, as_json: bool) -> None:
    from rich.console import Console

    from nashdex.core.errors import ConfigurationError
    from nashdex.runs.creation import open_run
    from nashdex_cli.commands.cluster.follow import rates_table
    from nashdex_cluster.training_rates import training_rates

    if watch:
        raise ConfigurationError("--watch has no effect on a run in a store: leave it out, or give the run's id")
    rates = list(training_rates(open_run(uri)))
    if as_json:
        print_json({"trainings": [one.as_json() for one in rates]})
        return
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    console.print(
        rates_table(rates) if rates else f"{uri}: no training with actors is running, or it is in its first round"
    )
