"""``nashdex stop``: end a run on a cluster in order."""

from typing import Annotated

import typer

from nashdex.commands.cluster_options import ContextOption, NamespaceOption, ServerOption
from nashdex.commands.output import JsonOption, print_json, print_text


def stop(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")],
    terminate: Annotated[bool, typer.Option("--terminate", help="Run no exit handlers: no verdicts.")] = False,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a run: its steps save what they have and end; `nashdex resume` goes on there."""
    from nashdex.cluster.connection import connect
    from nashdex.cluster.submission import stop_run

    cluster = connect(namespace=namespace, context=context, server=server)
    stopped = stop_run(cluster, run, exit_handlers=not terminate)
    if as_json:
        print_json({"run": run, "stopped": stopped})
    elif stopped:
        print_text(f"run {run}: stopping workflow {', '.join(stopped)}; nashdex resume {run} goes on with it")
    else:
        print_text(f"run {run} had ended already")
