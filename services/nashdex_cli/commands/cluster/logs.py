"""``nashdex logs``: logs of a run's pods."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError
from nashdex_cli.commands.cluster.cluster_options import ContextOption, NamespaceOption, ServerOption
from nashdex_cli.commands.output import print_text

if TYPE_CHECKING:
    from nashdex.store.protocol import ObjectStore

_PART = re.compile(
    r"(?P<shard_prefix>logs/(?P<iteration>\d+)/(?P<step>[a-z]+)/(?P<shard>\d+))/(?P<attempt>[^/]+)/\d+\.jsonl"
)

_FROM_ARGO = re.compile(r'[^|]* \| time="[^"]*" level=(?:info|debug) msg=')
"""A line that Argo's executor writes into the log of every container, unless it is a warning or an error."""


def logs(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run id, or its URI in a store.")],
    step: Annotated[
        str | None, typer.Argument(metavar="STEP", help="A step, or begin or verdict. [default: all]")
    ] = None,
    iteration: Annotated[int | None, typer.Option(min=0, help="Iteration, from 0. [default: all]")] = None,
    shard: Annotated[int | None, typer.Option(min=0, help="Shard, from 0. [default: all]")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new lines until Ctrl-C.")] = False,
    namespace: NamespaceOption = None,
    context: ContextOption = None,
    server: ServerOption = None,
) -> None:
    """Print the logs of a run's pods, each line with its step, iteration and shard.

    Succeeded pods are deleted after two minutes, and failed ones with their workflow. Steps also write their logs to
    the run's store: given the run's URI, such as s3://bucket/prefix/RUN, print those instead of the pods'.
    """
    if "/" in run:
        _print_archived(run, step, iteration, shard, follow=follow)
        return
    from nashdex_cluster.client import COMPONENT_LABEL, ITERATION_LABEL, RUN_LABEL, SHARD_LABEL
    from nashdex_cluster.connection import connect
    from nashdex_cluster.status import run_status
    from nashdex_cluster.submission import find_workflows

    cluster = connect(namespace=namespace, context=context, server=server)
    workflows = sorted(find_workflows(cluster, run), key=lambda workflow: workflow.created)
    run_status(run, workflows)
    labels = {RUN_LABEL: run, COMPONENT_LABEL: step, ITERATION_LABEL: iteration, SHARD_LABEL: shard}
    selector = ",".join(f"{name}={value}" for name, value in labels.items() if value is not None)
    wanted = [w.name for w in workflows if iteration is None or w.iteration == iteration]
    any_line = False
    for line in cluster.logs(wanted, selector, follow=follow):
        if _FROM_ARGO.match(line):
            continue
        any_line = True
        print_text(line)
    if not any_line:
        site = cluster.site()
        words = [run, *([step] if step else []), *([] if iteration is None else [f"--iteration {iteration}"])]
        words += [] if shard is None else [f"--shard {shard}"]
        archived = f"{site.store if site else 'STORE'}/{' '.join(words)}"
        raise DataError(
            f"no pod has logs of {', '.join(words)}: it has not started, or it succeeded and was deleted after two "
            f"minutes. `nashdex status {run} -n {cluster.namespace}` shows its state, `nashdex logs {archived}` reads "
            "its log in the store"
        )


def _print_archived(run: str, step: str | None, iteration: int | None, shard: int | None, *, follow: bool) -> None:
    from nashdex.local.runner import logs_folder
    from nashdex.runs.creation import open_run

    if follow:
        raise ConfigurationError("--follow has no effect on logs in a store: leave it out, or give the run's id")
    opened, any_line = open_run(run), False
    for line in archived_lines(opened.store, step=step, iteration=iteration, shard=shard):
        any_line = True
        print_text(line)
    if not any_line:
        raise DataError(
            f"{run} has no such logs: steps write them while they run on a cluster (NASHDEX_ARCHIVE_LOGS=true), a "
            f"minute after they start and at their end; `nashdex run` writes its logs to {logs_folder(opened)}"
        )


def archived_lines(
    store: "ObjectStore", *, step: str | None = None, iteration: int | None = None, shard: int | None = None
) -> Iterator[str]:
    """Yield lines as ``step, iteration, shard | line``, shard by shard, and each shard's attempts from the first on.

    Without ``step``, ``iteration`` or ``shard``, of all. ``store`` is rooted at the run.
    """
    from nashdex.core import keys

    prefix = f"{keys.LOGS}/" if iteration is None else f"{keys.LOGS}/{iteration:04d}/"
    parts = [
        part
        for part in map(_PART.fullmatch, store.list(prefix))
        if part is not None and step in {None, part["step"]} and shard in {None, int(part["shard"])}
    ]
    for _, group in groupby(parts, lambda part: part["shard_prefix"]):
        attempts: dict[str, list[str]] = {}
        for part in group:
            head = f"{part['step']}, iteration {int(part['iteration'])}, shard {int(part['shard'])}"
            attempts.setdefault(part["attempt"], []).extend(_lines(store, part[0]))
        for lines in sorted(attempts.values(), key=_began):
            yield from (f"{head} | {line}" for line in lines)


def _lines(store: "ObjectStore", key: str) -> list[str]:
    return store.get(key).decode(errors="replace").splitlines()


def _began(lines: list[str]) -> str:
    """Return the time of an attempt's first line."""
    try:
        return str(json.loads(lines[0])["timestamp"])
    except (IndexError, ValueError, KeyError, TypeError):
        return ""
