"""Check a site with pods before submitting a run: its images, room for its pods, its store.

A pod that cannot start waits forever, and the run with it. The check waits once, with a timeout. A successful check
holds while the site stays the same and Argo keeps the check's Workflow, which carries a hash of the site as a label.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_exponential

from nashdex.core.errors import ConfigurationError, ExitCode, NashdexError, TryAgainError
from nashdex_cluster.client import COMPONENT_LABEL, NAME_LABEL, Cluster, WorkflowObject
from nashdex_cluster.site import Site
from nashdex_cluster.workflow_state import (
    CHECK_TEMPLATE,
    EXECUTOR_STOPPED_EARLY,
    SIDECAR_FAILED,
    PodState,
    read_pods,
    read_workflow,
)

SITE_LABEL = "nashdex.dev/site"
"""Label of a check: a hash of the site that it checked."""
_LOOK_EVERY_SECONDS = 2.0
_PATIENCE_SECONDS = 120.0
_COMPONENT = "check"
_NO_IMAGE = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
_NO_NODE = "Unschedulable"
_PASSING = {None, ExitCode.TRY_AGAIN, ExitCode.STOPPED, 137}
"""Exit codes of failures that may pass: None if the pod was lost, 137 if it was killed."""
_RETRIED = {SIDECAR_FAILED, EXECUTOR_STOPPED_EARLY}
"""Exit codes of failures that the check itself retries."""
_HASH_DIGITS = 16
_MAX_MESSAGE_CHARACTERS = 400
"""Longest quoted part of a message from Kubernetes."""

_Show = Callable[[str], None]


def check_with_pods(cluster: Cluster, show: _Show, *, timeout_seconds: float) -> None:
    """Start every image on the nodes of its steps, and write to the store, unless this site has been checked already.

    If the site's configuration may not be read, nothing shows whether it changed, so it is checked every time.

    Args:
        cluster: the cluster to check.
        show: called with one line of progress whenever it changes.
        timeout_seconds: limit for all pods to be scheduled, to start and to end.

    Raises:
        ConfigurationError: an image cannot be pulled or does not start, or the store rejects the pod.
        TryAgainError: no node has room for a pod, or the cluster or the store does not respond.
    """
    site = cluster.site()
    labels = {NAME_LABEL: "nashdex", COMPONENT_LABEL: _COMPONENT} | ({SITE_LABEL: _digest(site)} if site else {})
    if site and any(read_workflow(each).phase == "Succeeded" for each in cluster.workflows(_selector(labels))):
        return
    name = cluster.create_workflow(_workflow(cluster.namespace, labels))
    try:
        _follow(cluster, name, _selector(labels), show, timeout_seconds)
    except BaseException:  # also Ctrl-C: the pods would keep waiting
        with suppress(NashdexError):
            cluster.shut_down(name, exit_handlers=False)
        raise


def _workflow(namespace: str, labels: Mapping[str, str]) -> Mapping[str, Any]:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": f"{CHECK_TEMPLATE}-", "namespace": namespace, "labels": dict(labels)},
        "spec": {"workflowTemplateRef": {"name": CHECK_TEMPLATE}},
    }


def _follow(cluster: Cluster, name: str, selector: str, show: _Show, timeout_seconds: float) -> None:
    """Wait for a check to succeed; raise the first problem."""
    deadline = time.monotonic() + timeout_seconds
    shown = ""
    while True:
        document = _look(cluster, name, selector)
        pods, state = read_pods(document), read_workflow(document)
        if (line := _progress(cluster.namespace, pods)) != shown:
            show(shown := line)
        if state.phase == "Succeeded":
            return
        for pod in pods:
            is_retried = pod.exit_code in _RETRIED and not state.is_over
            if not is_retried and (found := _problem(pod)) is not None:
                raise found
        if state.is_over:
            raise TryAgainError(f"check {name} of the site ended: {state.phase} {state.message}; {_ELSE}")
        if time.monotonic() > deadline:
            raise _too_late(name, pods, timeout_seconds)
        time.sleep(_LOOK_EVERY_SECONDS)


@retry(
    retry=retry_if_exception_type(TryAgainError),
    stop=stop_after_delay(_PATIENCE_SECONDS),
    wait=wait_exponential(multiplier=1, max=15),
    reraise=True,
)
def _look(cluster: Cluster, name: str, selector: str) -> WorkflowObject:
    """Return a Workflow; retry while the cluster does not respond or does not list it yet."""
    for document in cluster.workflows(selector):
        if document["metadata"]["name"] == name:
            return document
    raise TryAgainError(f"check {name} of the site was deleted; {_ELSE}")


def _problem(pod: PodState) -> NashdexError | None:
    said = pod.message[:_MAX_MESSAGE_CHARACTERS]
    if pod.phase == "Pending" and pod.message.partition(":")[0] in _NO_IMAGE:
        return ConfigurationError(
            f"an image of {_whose(pod)} cannot be pulled ({said}): push it to the nodes' registry, or "
            "correct the site's images (with Helm, images.repository, images.tag and images.pullSecrets)"
        )
    if pod.phase not in {"Failed", "Error"}:
        return None
    kind = TryAgainError if pod.exit_code in _PASSING and "is forbidden" not in said else ConfigurationError
    what = "cannot use the store" if pod.template == "control" and pod.exit_code is not None else "failed"
    return kind(f"{_whose(pod)} {what}: {said or 'no message'}")


def _too_late(name: str, pods: list[PodState], timeout_seconds: float) -> NashdexError:
    """Return the error for a check that takes too long."""
    after = f"after {timeout_seconds:.0f} s"
    waiting = sorted((pod for pod in pods if pod.phase != "Succeeded"), key=lambda pod: not _is_unschedulable(pod))
    if not waiting:
        return TryAgainError(
            f"Argo has not started check {name} of the site {after}: check that its controller runs and watches this "
            f"namespace; {_ELSE}"
        )
    pod = waiting[0]
    said = pod.message[:_MAX_MESSAGE_CHARACTERS] or pod.phase
    if _is_unschedulable(pod):
        return TryAgainError(
            f"no node has room for {_whose(pod)} {after} ({said}): request what a node has, in the site's "
            f"{pod.template}-pod-patch (with Helm, {pod.template}'s gpus, resources, nodeSelector and tolerations), or "
            f"wait until a node is free; {_ELSE}"
        )
    return TryAgainError(
        f"{_whose(pod)} is still waiting {after} ({said}), perhaps for a queue, a volume or an image; {_ELSE}"
    )


_ELSE = "--check-timeout waits longer, and --no-check skips the check"


def _is_unschedulable(pod: PodState) -> bool:
    return pod.phase == "Pending" and pod.message.startswith(_NO_NODE)


def _whose(pod: PodState) -> str:
    return "the control pod" if pod.template == "control" else f"the {pod.template} pod"


def _progress(namespace: str, pods: list[PodState]) -> str:
    started = sum(pod.phase == "Succeeded" for pod in pods)
    waiting = next((f"; {_whose(pod)} waits: {pod.message}" for pod in pods if _is_unschedulable(pod)), "")
    line = f"checking images, room for pods and the store in namespace {namespace}: {started} of {len(pods) or '?'}"
    return line + waiting[:_MAX_MESSAGE_CHARACTERS]


def _digest(site: Site) -> str:
    return hashlib.sha256(site.model_dump_json().encode()).hexdigest()[:_HASH_DIGITS]


def _selector(labels: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in labels.items())
