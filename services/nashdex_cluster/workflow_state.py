"""The state of a Workflow: its phase, shards and pods."""

import base64
import gzip
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nashdex.core.errors import DataError
from nashdex_cluster.client import ITERATION_LABEL, RUN_LABEL, WorkflowObject

CHECK_TEMPLATE = "nashdex-check"
LEAGUE_TEMPLATE = "nashdex-league"
ITERATION_TEMPLATE = "nashdex-iteration"
ACTORS_TEMPLATE = "nashdex-actors"
SIDECAR_FAILED = 0
"""Argo's exit code of a failed pod whose main container succeeded: it is the main container's."""
EXECUTOR_STOPPED_EARLY = 2
"""Exit code of a container whose executor gets SIGTERM before it listens for signals. No command of nashdex has it.

Argo sends SIGTERM to a sidecar that starts after the main container ended, which is ordinary on a busy node.
"""
_ENDED = {"Succeeded", "Failed", "Error"}
_MAX_NODES_BYTES = 64 << 20


@dataclass(frozen=True)
class Shard:
    """One shard of a step in one workflow."""

    step: str
    number: int
    phase: str
    """Argo's: Pending, Running, Succeeded, Failed, Error, Skipped or Omitted."""
    tries: int
    began: datetime | None
    ended: datetime | None
    message: str
    exit_code: int | None


@dataclass(frozen=True)
class PodState:
    """One pod, as Argo reports it."""

    template: str
    phase: str
    """See ``Shard.phase``."""
    message: str
    """For a pending pod, the reason: from Kubernetes, or from the container that cannot start."""
    exit_code: int | None


@dataclass(frozen=True)
class WorkflowState:
    """One Workflow."""

    name: str
    template: str
    """The WorkflowTemplate that it runs."""
    run: str
    iteration: int | None
    parameters: Mapping[str, str]
    phase: str
    message: str
    created: datetime
    began: datetime | None
    ended: datetime | None
    shards: tuple[Shard, ...]
    outputs: Mapping[str, str]
    """Outputs of an iteration's plan: the number of shards of the other steps. Of a league's begin: its iterations."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, successfully or not."""
        return self.phase in _ENDED

    @property
    def has_begun(self) -> bool:
        """Whether the begin step of a league, or the plan of an iteration, has succeeded."""
        return bool(self.outputs)


def read_workflow(document: WorkflowObject) -> WorkflowState:
    """Return the state that a Workflow object describes.

    Raises:
        DataError: Argo stores its nodes in a database, or they cannot be read.
    """
    metadata, spec, status = document["metadata"], document["spec"], document.get("status") or {}
    labels = metadata.get("labels") or {}
    nodes = _nodes(metadata["name"], status)
    parameters = {p["name"]: str(p.get("value", "")) for p in spec.get("arguments", {}).get("parameters", [])}
    iteration = labels.get(ITERATION_LABEL, parameters.get("iteration", ""))
    created = _time(metadata["creationTimestamp"])
    assert created is not None, "every object has a creation time"
    return WorkflowState(
        name=metadata["name"],
        template=spec.get("workflowTemplateRef", {}).get("name", ""),
        run=labels.get(RUN_LABEL, parameters.get("run", "")),
        iteration=int(iteration) if iteration.isdecimal() else None,
        parameters=parameters,
        phase=status.get("phase") or "Pending",
        message=status.get("message", ""),
        created=created,
        began=_time(status.get("startedAt")),
        ended=_time(status.get("finishedAt")),
        shards=tuple(_shards(nodes)),
        outputs=_outputs(nodes),
    )


def _nodes(name: str, status: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    if status.get("offloadNodeStatusVersion"):
        raise DataError(f"workflow {name}: Argo stores its nodes in a database; name the Argo server with --server")
    if packed := status.get("compressedNodes"):
        try:
            with gzip.open(io.BytesIO(base64.b64decode(packed))) as file:
                text = file.read(_MAX_NODES_BYTES)
            nodes: Mapping[str, Mapping[str, Any]] = json.loads(text)
        except (ValueError, OSError, EOFError) as error:
            raise DataError(f"workflow {name}: its compressed nodes cannot be read ({error})") from error
        return nodes
    return status.get("nodes") or {}


def read_pods(document: WorkflowObject) -> list[PodState]:
    """Return the pods of a Workflow, also deleted ones.

    Raises:
        DataError: Argo stores its nodes in a database, or they cannot be read.
    """
    nodes = _nodes(document["metadata"]["name"], document.get("status") or {})
    return [
        PodState(
            template=node.get("templateName", ""),
            phase=node.get("phase") or "Pending",
            message=node.get("message", ""),
            exit_code=_exit_code(node),
        )
        for node in nodes.values()
        if node["type"] == "Pod"
    ]


def _shards(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[Shard]:
    for node in nodes.values():
        # A shard is a Retry node with one Pod per attempt below it, or a Skipped node.
        if node["type"] == "Retry" or (node["type"] == "Skipped" and "templateRef" in node):
            yield _shard(node, [nodes[child] for child in node.get("children", []) if child in nodes])


def _shard(node: Mapping[str, Any], children: list[Mapping[str, Any]]) -> Shard:
    tries = [child for child in children if child["type"] == "Pod"]
    last = tries[-1] if tries else node
    inputs = {p["name"]: p.get("value") for p in (node.get("inputs") or {}).get("parameters", [])}
    number = inputs.get("shard", inputs.get("iteration", "0"))
    reference = node.get("templateRef") or {}
    return Shard(
        step=reference.get("template") or node.get("templateName", ""),
        number=int(number) if str(number).isdecimal() else 0,
        phase=_phase(node, last),
        tries=len(tries),
        began=_time(node.get("startedAt")),
        ended=_time(node.get("finishedAt")),
        message=last.get("message") or node.get("message", ""),
        exit_code=_exit_code(last),
    )


def _exit_code(node: Mapping[str, Any]) -> int | None:
    code = (node.get("outputs") or {}).get("exitCode", "")
    return int(code) if code.isdecimal() else None


def _phase(node: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    """Return the phase of a shard: Pending, not Running, while its pod waits for a node."""
    if node.get("phase") == "Running" and last.get("phase") == "Pending":
        return "Pending"
    return str(node.get("phase") or "Pending")


def _outputs(nodes: Mapping[str, Mapping[str, Any]]) -> Mapping[str, str]:
    for node in nodes.values():
        reference = (node.get("templateRef") or {}).get("template") or node.get("templateName")
        if node["type"] == "Retry" and reference in {"plan", "begin"}:
            parameters = (node.get("outputs") or {}).get("parameters", [])
            # A step that failed has outputs without values.
            return {p["name"]: str(p["value"]) for p in parameters if "value" in p}
    return {}


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
