"""``nashdex resume``: continue a run on a cluster."""

import sys
from typing import Annotated

import typer

from nashdex.commands.cluster.check_site import (
    DEFAULT_CHECK_TIMEOUT_SECONDS,
    CheckOption,
    CheckTimeoutOption,
    site_check,
)
from nashdex.commands.cluster.cluster_options import ContextOption, NamespaceOption, ServerOption, WaitOption
from nashdex.commands.output import JsonOption, print_json, print_text


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
    from nashdex.cluster.connection import connect
    from nashdex.cluster.submission import resume_run
    from nashdex.commands.cluster.follow import follow

    cluster = connect(namespace=namespace, context=context, server=server)
    workflow = resume_run(cluster, run, check=site_check(cluster, wanted=check, timeout_seconds=check_timeout))
    if not as_json:
        print_text(f"resumed run {run} as workflow {workflow}" if workflow else f"run {run} is complete")
    if wait and workflow:
        follow(cluster, run, sys.stderr if as_json else sys.stdout)
    if as_json:
        print_json({"run": run, "workflow": workflow})
