"""``nashdex submit``, ``nashdex resume`` and ``nashdex stop``: a run's workflows on a cluster."""

import sys
from typing import Annotated

import typer

from nashdex_cli.commands.cluster.cluster_options import (
    DEFAULT_CHECK_TIMEOUT_SECONDS,
    CheckOption,
    CheckTimeoutOption,
    ContextOption,
    NamespaceOption,
    ServerOption,
    WaitOption,
    site_check,
)
from nashdex_cli.commands.output import JsonOption, print_answer, print_json, print_text
from nashdex_cli.commands.run_options import ConfigArgument, OverridesOption, RunIdOption


def submit(  # noqa: PLR0917 - typer's options, never positional
    config: ConfigArgument,
    run: RunIdOption = None,
    overrides: OverridesOption = None,
    begun: Annotated[
        bool, typer.Option("--begun", help="The run exists in the cluster's store (nashdex begin); send no settings.")
    ] = False,
    attach: Annotated[
        bool, typer.Option("--attach", help="Submit nothing if the run is already running there with these settings.")
    ] = False,
    check: CheckOption = True,
    check_timeout: CheckTimeoutOption = DEFAULT_CHECK_TIMEOUT_SECONDS,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run on a cluster where nashdex is installed. Rejects a run that cannot run there before it creates anything."""
    from nashdex.runs.creation import prepare_run
    from nashdex_cli.commands.cluster.follow import follow
    from nashdex_cluster.connection import connect
    from nashdex_cluster.submission import running_workflow, submit_run

    prepared = prepare_run(config, name=run, overrides=overrides)
    cluster = connect(namespace=namespace, context=context, server=server)
    running = running_workflow(cluster, prepared) if attach else None
    workflow = running or submit_run(
        cluster,
        prepared,
        begun=begun,
        check=site_check(cluster, wanted=check, timeout_seconds=check_timeout),
    )
    if not as_json:
        done = f"run {prepared.id} is running" if running else f"submitted run {prepared.id}"
        print_text(f"{done} with {prepared.settings.iterations} iterations as workflow {workflow}")
        if not wait:
            print_text(f"nashdex status {prepared.id} --watch -n {cluster.namespace}")
    status = follow(cluster, prepared.id, sys.stderr if as_json else sys.stdout) if wait else None
    if as_json:
        site = cluster.site()
        document = {
            "run": prepared.id,
            "uri": f"{site.store}/{prepared.id}" if site else None,
            "workflow": workflow,
            "namespace": cluster.namespace,
            "iterations": prepared.settings.iterations,
        }
        print_json(document | ({"status": status.as_json()} if status else {}))


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id.")],
    check: CheckOption = True,
    check_timeout: CheckTimeoutOption = DEFAULT_CHECK_TIMEOUT_SECONDS,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Continue a run that was stopped or failed, from its first iteration without a report in the store.

    Its earlier Workflows may be gone. Finished steps are not repeated, and no battle is played twice.
    """
    from nashdex_cli.commands.cluster.follow import follow
    from nashdex_cluster.connection import connect
    from nashdex_cluster.submission import resume_run

    cluster = connect(namespace=namespace, context=context, server=server)
    workflow = resume_run(cluster, run, check=site_check(cluster, wanted=check, timeout_seconds=check_timeout))
    if not as_json:
        print_text(f"resumed run {run} as workflow {workflow}" if workflow else f"run {run} is complete")
        if workflow and not wait:
            print_text(f"nashdex status {run} --watch -n {cluster.namespace}")
    if wait and workflow:
        follow(cluster, run, sys.stderr if as_json else sys.stdout)
    if as_json:
        print_json({"run": run, "workflow": workflow})


def stop(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id.")],
    terminate: Annotated[
        bool, typer.Option("--terminate", help="Skip exit handlers, so that no verdict is written.")
    ] = False,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a run. Its steps save their state and end; `nashdex resume` continues it."""
    from nashdex_cluster.connection import connect
    from nashdex_cluster.submission import stop_run

    cluster = connect(namespace=namespace, context=context, server=server)
    stopped = stop_run(cluster, run, exit_handlers=not terminate)
    said = f"run {run} has already ended"
    again = f"nashdex resume {run} -n {cluster.namespace}"
    if stopped:
        said = f"run {run}: stopping workflow {', '.join(stopped)}; `{again}` continues it"
    print_answer({"run": run, "stopped": stopped}, [said], as_json=as_json)
