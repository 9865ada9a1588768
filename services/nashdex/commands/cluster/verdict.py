"""``nashdex verdict``: the outcome of an iteration, as the exit handler of its workflow."""

import json
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.core.errors import ConfigurationError

_SUCCEEDED = "Succeeded"


def verdict(
    run: Annotated[str, typer.Option(metavar="URI", help="URI of the run: the store's URI, a slash, the run's id.")],
    iteration: Annotated[int, typer.Option(min=0, help="Iteration, from 0.")],
    status: Annotated[str, typer.Option(help="How the workflow ended: Succeeded, Failed or Error.")],
    failures: Annotated[str, typer.Option(metavar="JSON", help="Its failed nodes, as Argo lists them.")] = "[]",
    as_json: JsonOption = False,
) -> None:
    """Print the outcome of an iteration: its results, or its failures, first to last.

    Exits 0 even if the workflow failed, and 65 if it succeeded without a report.
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
            print_text(f"iteration {iteration} of {run} did not succeed: {status}")
            for name, message in failed.items():
                print_text(f"  {name}: {message}")
        return
    report = read_published(open_run(run).store, iteration, keys.REPORT, Report)
    if as_json:
        print_json({"run": run, "iteration": iteration, "status": status, "failures": {}})
    else:
        print_text(describe_iteration(report, iteration))


def _first_failures(text: str) -> dict[str, str]:
    """Return the message of each failed pod by the node's name, in the order of failure.

    Raises:
        ConfigurationError: the text is not such a list.
    """
    try:
        nodes = json.loads(text) or []
        if isinstance(nodes, str):  # Argo quotes its list twice
            nodes = json.loads(nodes)
        # Nodes that contain a failed pod repeat its message.
        pods = sorted((node for node in nodes if node.get("podName")), key=lambda node: str(node.get("finishedAt")))
        return {str(node["displayName"]): str(node.get("message") or node.get("phase")) for node in pods}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise ConfigurationError(
            f"--failures is not a list of nodes ({error}); expected Argo's workflow.failures"
        ) from error
