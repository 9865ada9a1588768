"""``nashdex verdict``: what an iteration came to, as the last thing that its workflow does."""

import json
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.core.errors import ConfigurationError

_SUCCEEDED = "Succeeded"


def verdict(
    run: Annotated[str, typer.Option(metavar="URI", help="The run's URI: the store's, then the run's id.")],
    iteration: Annotated[int, typer.Option(min=0, help="Iteration, from 0.")],
    status: Annotated[str, typer.Option(help="What the workflow came to: Succeeded, Failed or Error.")],
    failures: Annotated[str, typer.Option(metavar="JSON", help="Its failed nodes, as Argo lists them.")] = "[]",
    as_json: JsonOption = False,
) -> None:
    """Say what an iteration came to: its findings, or what failed first.

    Exits 65 where the workflow ended well and left no report. Of one that did not, the verdict itself succeeds.
    """
    from nashdex.core import keys
    from nashdex.local.summary import describe_iteration
    from nashdex.report.document import Report
    from nashdex.runs.creation import open_run
    from nashdex.store.documents import read_published

    if status != _SUCCEEDED:
        failed = _first_failures(failures)
        if as_json:
            print_json({"run": run, "iteration": iteration, "status": status, "failures": failed})
        else:
            print_text(f"iteration {iteration} of {run} has not succeeded: {status}")
            for name, message in failed.items():
                print_text(f"  {name}: {message}")
        return
    report = read_published(open_run(run).store, iteration, keys.REPORT, Report)
    if as_json:
        print_json({"run": run, "iteration": iteration, "status": status, "failures": {}})
    else:
        print_text(describe_iteration(report, iteration))


def _first_failures(text: str) -> dict[str, str]:
    """Return the message of each pod that failed, by the node's name, the first to fail first.

    Raises:
        ConfigurationError: the text is no such list.
    """
    try:
        nodes = json.loads(text) or []
        if isinstance(nodes, str):  # Argo quotes its list once more
            nodes = json.loads(nodes)
        # Nodes that merely contain a failed pod repeat it.
        pods = sorted((node for node in nodes if node.get("podName")), key=lambda node: str(node.get("finishedAt")))
        return {str(node["displayName"]): str(node.get("message") or node.get("phase")) for node in pods}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise ConfigurationError(
            f"--failures is no list of nodes ({error}); expected Argo's workflow.failures"
        ) from error
