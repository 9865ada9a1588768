"""Log lines of many pods at once."""

import time
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import urllib3
from kubernetes.client.exceptions import ApiException

from nashdex.cluster.client import COMPONENT_LABEL, ITERATION_LABEL, SHARD_LABEL

_LOOK_EVERY_SECONDS = 2.0
_CONTAINER = "main"
_NOT_YET = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
"""Responses for a pod whose container has not started, or that was deleted."""


class PodLogs:
    """The main containers of the pods that a selector selects."""

    def __init__(self, core: Any, namespace: str, selector: str) -> None:  # noqa: ANN401 - generated code
        self._core = core  # CoreV1Api, whose types allow None everywhere
        self._namespace = namespace
        self._selector = selector

    def lines(self, *, follow: bool) -> Iterator[str]:
        """Yield ``step, iteration, shard | line``; with ``follow``, also of new pods, until interrupted."""
        if not follow:
            for pod in self._pods():
                yield from self._of_pod(pod, follow=False)
            return
        queue: SimpleQueue[str] = SimpleQueue()
        followed: set[str] = set()
        looked_seconds = float("-inf")
        while True:
            if time.monotonic() - looked_seconds > _LOOK_EVERY_SECONDS:
                looked_seconds = time.monotonic()
                for pod in self._pods():
                    if pod.metadata.name not in followed and pod.status.phase != "Pending":
                        followed.add(pod.metadata.name)
                        Thread(target=self._pump, args=(pod, queue), daemon=True).start()
            with suppress(Empty):
                yield queue.get(timeout=_LOOK_EVERY_SECONDS)

    def _pods(self) -> list[Any]:
        pods = self._core.list_namespaced_pod(
            self._namespace, label_selector=self._selector, _request_timeout=(10, 60)
        ).items
        return sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp, pod.metadata.name))

    def _pump(self, pod: Any, queue: SimpleQueue[str]) -> None:  # noqa: ANN401 - as above
        with suppress(ApiException, urllib3.exceptions.HTTPError):  # the pod was deleted; the others go on
            for line in self._of_pod(pod, follow=True):
                queue.put(line)

    def _of_pod(self, pod: Any, *, follow: bool) -> Iterator[str]:  # noqa: ANN401 - as above
        try:
            answer = self._core.read_namespaced_pod_log(
                pod.metadata.name, self._namespace, container=_CONTAINER, follow=follow, _preload_content=False
            )
        except ApiException as error:
            if error.status in _NOT_YET:
                return
            raise
        head = title(pod.metadata.labels or {}, pod.metadata.name)
        rest = b""
        for chunk in answer.stream():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield f"{head} | {line.decode(errors='replace')}"
        if rest:
            yield f"{head} | {rest.decode(errors='replace')}"


def title(labels: dict[str, str], name: str) -> str:
    """Return the prefix of a pod's lines."""
    parts = [labels.get(COMPONENT_LABEL, name)]
    if ITERATION_LABEL in labels:
        parts.append(f"iteration {labels[ITERATION_LABEL]}")
    if SHARD_LABEL in labels:
        parts.append(f"shard {labels[SHARD_LABEL]}")
    return ", ".join(parts)
