"""``nashdex verdict``: the outcome of an iteration or a league, as the exit handler of its workflow."""

import ast
import json
import math
import re
from typing import Annotated, Any

import typer

from nashdex.core.errors import ConfigurationError
from nashdex_cli.commands.output import JsonOption, print_json, print_text

_SUCCEEDED = "Succeeded"
_FAILED = "Failed"
"""Argo's status of a workflow with a failed pod, and of one that was stopped, which may have none."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|\\[^uUx])*')
"""A quoted string, or as much of it as is there, without its end quote and without half an escape sequence."""
_ATTEMPT = re.compile(r"\(\d+\)$")
"""End of an attempt's name, such as ``plan(0)`` or ``collect(3:3)(1)``."""
_BETWEEN = re.compile(r"[\s,]*")
_SHUT_DOWN = "workflow shutdown with strategy"
"""Argo's message of a pod that `nashdex stop` or `argo stop` ended."""
_CANCELLED = "context canceled"
"""Its message of a league's pod that was stopped while it waited for an iteration, or evicted, and tried again."""


def verdict(
    run: Annotated[str, typer.Option(metavar="URI", help="URI of the run: the store's URI, a slash, the run's id.")],
    status: Annotated[str, typer.Option(help="How the workflow ended: Succeeded, Failed or Error.")],
    iteration: Annotated[
        int | None, typer.Option(min=0, help="Iteration, from 0. [default: the first without a report]")
    ] = None,
    failures: Annotated[
        str, typer.Option(metavar="JSON", help="Its failed nodes, as Argo lists them; the end may be cut off.")
    ] = "[]",
    since: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Keep a verdict from this Unix time or later. [default: replace any]",
            show_default=False,
        ),
    ] = math.inf,
    as_json: JsonOption = False,
) -> None:
    """Print the outcome of an iteration: its results, or its failures, first to last.

    If the run ends with this iteration, write its outcome to verdict.json in the store. Without --iteration, the
    workflow is a league, whose run may not even exist. Exits 0 even if the workflow failed, and 65 if it succeeded
    without a report.
    """
    from nashdex.core import keys
    from nashdex.local.summary import describe_iteration
    from nashdex.report.document import Report
    from nashdex.runs.creation import first_without_report, open_run
    from nashdex.store import open_store
    from nashdex.store.documents import read_published
    from nashdex.store.verdict import Phase, record_end

    if status != _SUCCEEDED:
        failed, is_complete = _first_failures(failures)
        if as_json:
            document = {"failures": failed, "failures_complete": is_complete}
            print_json({"run": run, "iteration": iteration, "status": status, **document})
        else:
            print_text(f"{run if iteration is None else f'iteration {iteration} of {run}'} did not succeed: {status}")
            for name, message in failed.items():
                print_text(f"  {name}: {message}")
            if not is_complete:
                print_text("  and more: `argo get` lists every failed pod")
        # Last, because the store may be what failed.
        if iteration is None and not open_store(run).exists(keys.CONFIG):
            return  # it ended before there was a run
    opened = open_run(run)
    number = min(first_without_report(opened), opened.settings.iterations - 1) if iteration is None else iteration
    if status != _SUCCEEDED:
        is_between = status == _FAILED and is_complete and not failed
        *_, last = "", *failed.values()
        is_stopped = is_between or _CANCELLED in last or any(_SHUT_DOWN in message for message in failed.values())
        unfailed = f"stopped between two {'iterations' if iteration is None else 'steps'}" if is_between else status
        first = next((f"{name}: {message}" for name, message in failed.items()), unfailed)
        record_end(opened.store, Phase.STOPPED if is_stopped else Phase.FAILED, number, first, since_seconds=since)
        return
    report = read_published(opened.store, number, keys.REPORT, Report)
    if number == opened.settings.iterations - 1:
        record_end(opened.store, Phase.SUCCEEDED, number)
    if as_json:
        document = {"failures": {}, "failures_complete": True}
        print_json({"run": run, "iteration": number, "status": status, **document})
    else:
        print_text(describe_iteration(report, number))


def _first_failures(text: str) -> tuple[dict[str, str], bool]:
    """Return the message of each failed pod by the node's name, in the order of failure, and whether that is all.

    Raises:
        ConfigurationError: the text is not such a list.
    """
    try:
        nodes, is_complete = _nodes(_unquoted(text.strip()))
        pods = sorted((node for node in nodes if _is_pod(node)), key=lambda node: str(node.get("finishedAt")))
        found = {str(node["displayName"]): str(node.get("message") or node.get("phase")) for node in pods}
    except (ValueError, TypeError, AttributeError, KeyError, SyntaxError) as error:
        raise ConfigurationError(
            f"--failures is not a list of nodes ({error}); expected Argo's workflow.failures"
        ) from error
    return found, is_complete


def _is_pod(node: dict[str, Any]) -> bool:
    """Say whether a node is an attempt. Nodes that contain attempts repeat failures, and have a pod's name too."""
    return bool(node.get("podName")) and _ATTEMPT.search(node["displayName"]) is not None


def _unquoted(text: str) -> str:
    """Return the list in Argo's quoted Go string. A list without a closing quote was cut off."""
    match = _QUOTED.match(text)
    return text if match is None else str(ast.literal_eval(f'{match[0]}"'))


def _nodes(text: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the whole nodes of a list that may be cut off, and whether it is complete.

    Raises:
        ValueError: it is not a list.
    """
    if text in {"", "null"}:
        return [], True
    if not text.startswith("["):
        raise ValueError(f"it begins with {text[:20]!r}")
    nodes: list[dict[str, Any]] = []
    position, decoder = 1, json.JSONDecoder()
    while (position := _BETWEEN.match(text, position).end()) < len(text) and text[position] != "]":  # type: ignore[union-attr]
        try:
            node, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            return nodes, False
        nodes.append(node)
    return nodes, position < len(text)
