"""Trying a site with pods before a run is sent there: its images, room for its pods, its store.

A pod that cannot start waits for ever, and the run with it. Here it is waited for once, and for so long; a check that
succeeded is remembered, by a label, for as long as the site stays the same and Argo keeps its Workflow.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_exponential

from nashdex.cluster.client import COMPONENT_LABEL, NAME_LABEL, Cluster, WorkflowObject
from nashdex.cluster.site import Site
from nashdex.cluster.workflow_state import CHECK_TEMPLATE, PodState, read_pods, read_workflow
from nashdex.core.errors import ConfigurationError, ExitCode, NashdexError, TryAgainError

SITE_LABEL = "nashdex.dev/site"
"""Of a check: a hash of the site that it tried."""
_LOOK_EVERY_SECONDS = 2.0
_PATIENCE_SECONDS = 120.0
_COMPONENT = "check"
_NO_IMAGE = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
_NO_NODE = "Unschedulable"
_PASSING = {None, ExitCode.TRY_AGAIN, ExitCode.STOPPED, 137}
"""Exit codes of what may go better another time; None is of a pod that was lost, 137 of one that was killed."""
_HASH_DIGITS = 16
_MAX_MESSAGE_CHARACTERS = 400
"""Of Kubernetes' own words."""

_Tell = Callable[[str], None]


def check_with_pods(cluster: Cluster, tell: _Tell, *, timeout_seconds: float) -> None:
    """Start every image where its steps run, and write to the store, unless this site has been checked already.

    Where the site may not be read from here nothing says whether it is the same, and it is checked every time.

    Args:
        cluster: where.
        tell: told how far the check is, in a line, whenever that changes.
        timeout_seconds: how long pods may take to be given a machine, to start and to end.

    Raises:
        ConfigurationError: an image cannot be pulled or does not start, or the store refuses.
        TryAgainError: there is no room for a pod, or the cluster or the store does not answer.
    """
    site = cluster.site()
    labels = {NAME_LABEL: "nashdex", COMPONENT_LABEL: _COMPONENT} | ({SITE_LABEL: _digest(site)} if site else {})
    if site and any(read_workflow(each).phase == "Succeeded" for each in cluster.workflows(_selector(labels))):
        return
    name = cluster.create_workflow(_workflow(cluster.namespace, labels))
    try:
        _follow(cluster, name, _selector(labels), tell, timeout_seconds)
    except BaseException:  # Ctrl-C too: its pods would wait on
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


def _follow(cluster: Cluster, name: str, selector: str, tell: _Tell, timeout_seconds: float) -> None:
    """Wait for a check to succeed; raise the first thing that stands against that."""
    deadline = time.monotonic() + timeout_seconds
    told = ""
    while True:
        document = _look(cluster, name, selector)
        pods, state = read_pods(document), read_workflow(document)
        if (line := _progress(cluster.namespace, pods)) != told:
            tell(told := line)
        for pod in pods:
            if (found := _problem(pod)) is not None:
                raise found
        if state.phase == "Succeeded":
            return
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
    """Return a Workflow, however often the cluster is away for a moment, and before its server knows of it."""
    for document in cluster.workflows(selector):
        if document["metadata"]["name"] == name:
            return document
    raise TryAgainError(f"check {name} of the site is not there any more; {_ELSE}")


def _problem(pod: PodState) -> NashdexError | None:
    """Return what a pod says against the site, if it does already."""
    said = pod.message[:_MAX_MESSAGE_CHARACTERS]
    if pod.phase == "Pending" and pod.message.partition(":")[0] in _NO_IMAGE:
        return ConfigurationError(
            f"an image of {_whose(pod)} cannot be pulled there ({said}): push it to where the nodes pull from, or "
            "correct the site's images (with Helm, images.repository, images.tag and images.pullSecrets)"
        )
    if pod.phase not in {"Failed", "Error"}:
        return None
    kind = TryAgainError if pod.exit_code in _PASSING and "is forbidden" not in said else ConfigurationError
    what = "cannot use the store" if pod.template == "control" and pod.exit_code is not None else "failed"
    return kind(f"{_whose(pod)} {what} there: {said or 'it says nothing'}")


def _too_late(name: str, pods: list[PodState], timeout_seconds: float) -> NashdexError:
    """Return what to say of a check that takes too long."""
    after = f"after {timeout_seconds:.0f} s"
    waiting = sorted((pod for pod in pods if pod.phase != "Succeeded"), key=lambda pod: not _is_homeless(pod))
    if not waiting:
        return TryAgainError(
            f"Argo has not begun check {name} of the site {after}: look whether its controller runs and watches this "
            f"namespace; {_ELSE}"
        )
    pod = waiting[0]
    said = pod.message[:_MAX_MESSAGE_CHARACTERS] or pod.phase
    if _is_homeless(pod):
        return TryAgainError(
            f"no node has room for {_whose(pod)} {after} ({said}): ask for what a node has, in the site's "
            f"{pod.template}-pod-patch (with Helm, {pod.template}'s gpus, resources, nodeSelector and tolerations), or "
            f"wait until it is free; {_ELSE}"
        )
    return TryAgainError(
        f"{_whose(pod)} is still waiting {after} ({said}): a queue, a volume or an image may take its time; {_ELSE}"
    )


_ELSE = "--check-timeout waits longer, and --no-check submits without looking"


def _is_homeless(pod: PodState) -> bool:
    return pod.phase == "Pending" and pod.message.startswith(_NO_NODE)


def _whose(pod: PodState) -> str:
    return "the control pod" if pod.template == "control" else f"the {pod.template} pod"


def _progress(namespace: str, pods: list[PodState]) -> str:
    started = sum(pod.phase == "Succeeded" for pod in pods)
    waiting = next((f"; {_whose(pod)} waits: {pod.message}" for pod in pods if _is_homeless(pod)), "")
    line = f"checking images, room for pods and the store in namespace {namespace}: {started} of {len(pods) or '?'}"
    return line + waiting[:_MAX_MESSAGE_CHARACTERS]


def _digest(site: Site) -> str:
    return hashlib.sha256(site.model_dump_json().encode()).hexdigest()[:_HASH_DIGITS]


def _selector(labels: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in labels.items())
