"""``nashdex stop``: stop a run on a cluster."""

from typing import Annotated

import typer

from nashdex.commands.cluster.cluster_options import ContextOption, NamespaceOption, ServerOption
from nashdex.commands.output import JsonOption, print_json, print_text


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
    from nashdex.cluster.connection import connect
    from nashdex.cluster.submission import stop_run

    cluster = connect(namespace=namespace, context=context, server=server)
    stopped = stop_run(cluster, run, exit_handlers=not terminate)
    if as_json:
        print_json({"run": run, "stopped": stopped})
    elif stopped:
        print_text(f"run {run}: stopping workflow {', '.join(stopped)}; `nashdex resume {run}` continues it")
    else:
        print_text(f"run {run} has already ended")
