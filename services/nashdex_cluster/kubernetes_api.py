"""A cluster through the Kubernetes API, with the rights and credentials of a kubeconfig or a service account."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Self

import urllib3
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex_cluster.client import (
    COMPONENT_LABEL,
    ITERATION_LABEL,
    NAME_LABEL,
    SHARD_LABEL,
    WATCH_SECONDS,
    Template,
    WorkflowObject,
    followed,
    json_lines,
    refusal,
)
from nashdex_cluster.site import CONFIG_MAP, Site

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


_GROUP, _VERSION = "argoproj.io", "v1alpha1"
_TIMEOUT_SECONDS = (10, 60)
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_UNKNOWN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class KubernetesApi:
    """A ``Cluster`` that uses only the API server."""

    def __init__(self, api_client: client.ApiClient, namespace: str) -> None:
        self._api_client = api_client
        self._namespace = namespace
        # In the generated types everything in a response may be None.
        self._core: Any = client.CoreV1Api(api_client)
        self._apps: Any = client.AppsV1Api(api_client)
        self._objects: Any = client.CustomObjectsApi(api_client)

    @classmethod
    def open(cls, namespace: str | None, context: str | None) -> Self:
        """Return the cluster of a kubeconfig's context, or the cluster that this process runs in.

        Raises:
            ConfigurationError: there is neither, or no such context.
        """
        configuration = client.Configuration()
        loader: Any = config
        # Passed explicitly, because the client reads the variable only at import.
        file = os.environ.get("KUBECONFIG")
        default = "default"
        try:
            if context is None and "KUBERNETES_SERVICE_HOST" in os.environ and not file:
                loader.load_incluster_config(client_configuration=configuration)
                default = _NAMESPACE_FILE.read_text().strip()
            else:
                loader.load_kube_config(file, context=context, client_configuration=configuration)
                contexts, active = loader.list_kube_config_contexts(file)
                chosen = active if context is None else next(c for c in contexts if c["name"] == context)
                default = chosen["context"].get("namespace", default)
        except (ConfigException, OSError) as error:
            problem = str(error).rstrip(".")
            raise ConfigurationError(
                f"no cluster is configured: {problem}; set KUBECONFIG, choose another --context, or name an "
                "Argo server with --server"
            ) from error
        configuration.retries = 2
        return cls(client.ApiClient(configuration), namespace or default)

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self._namespace

    @property
    def token(self) -> str | None:
        """The bearer token, if the credentials are one. Never print it."""
        value = self._api_client.configuration.get_api_key_with_prefix("BearerToken", "authorization")
        return value.removeprefix("Bearer ").removeprefix("bearer ") if value else None

    def argo_version(self) -> str | None:
        """Return the controller's version, from the tag of its image; None if its Deployment may not be read."""
        for namespace in dict.fromkeys(("argo", self._namespace)):
            try:
                found = self._apps.list_namespaced_deployment(namespace, _request_timeout=_TIMEOUT_SECONDS).items
            except ApiException:
                continue  # no permission to read it
            except urllib3.exceptions.HTTPError as error:
                raise _unreachable("looking for Argo's controller", error) from error
            images = (container.image for item in found for container in item.spec.template.spec.containers)
            for image in images:
                if match := re.search(r"workflow-controller:(v\d+\.\d+[^@]*)", image):
                    return match[1]
        return None

    def templates(self) -> Mapping[str, Template]:
        """Return each WorkflowTemplate of nashdex, by name."""
        items = self._list("workflowtemplates", f"{NAME_LABEL}=nashdex", "reading the WorkflowTemplates")
        return Template.by_name(items)

    def site(self) -> Site | None:
        """Return the site's configuration; None if it may not be read."""
        what = f"reading ConfigMap {CONFIG_MAP} of namespace {self._namespace}"
        with _translated(what):
            try:
                found = self._core.read_namespaced_config_map(
                    CONFIG_MAP, self._namespace, _request_timeout=_TIMEOUT_SECONDS
                )
            except ApiException as error:
                if error.status in _UNKNOWN:
                    return None
                if error.status == HTTPStatus.NOT_FOUND:
                    raise ConfigurationError(
                        f"namespace {self._namespace} has no ConfigMap {CONFIG_MAP}: install nashdex there, or choose "
                        "another namespace with -n"
                    ) from error
                raise
        return Site.parse(found.data or {}, self._namespace)

    def has_secret(self, name: str) -> bool | None:
        """Return whether a Secret exists; None if Secrets may not be read. Its content is discarded."""
        with _translated(f"looking for Secret {name}"):
            try:
                self._core.read_namespaced_secret(name, self._namespace, _request_timeout=_TIMEOUT_SECONDS)
            except ApiException as error:
                if error.status in _UNKNOWN:
                    return None
                if error.status == HTTPStatus.NOT_FOUND:
                    return False
                raise
        return True

    def create_workflow(self, workflow: WorkflowObject) -> str:
        """Create a Workflow; return its name."""
        with _translated("creating the workflow"):
            created: dict[str, Any] = self._objects.create_namespaced_custom_object(
                _GROUP, _VERSION, self._namespace, "workflows", dict(workflow), _request_timeout=_TIMEOUT_SECONDS
            )
        return str(created["metadata"]["name"])

    def workflows(self, selector: str) -> list[WorkflowObject]:
        """Return the Workflows that a label selector selects."""
        return self._list("workflows", selector, "reading the workflows")

    def watch(self, selector: str) -> Iterator[list[WorkflowObject]]:
        """Yield the Workflows that a label selector selects, at once and after every change, for some minutes."""
        what = "watching the workflows"
        answer = self._list_whole("workflows", selector, what)
        with _translated(what):
            stream = self._objects.list_namespaced_custom_object(
                _GROUP,
                _VERSION,
                self._namespace,
                "workflows",
                label_selector=selector,
                resource_version=answer["metadata"]["resourceVersion"],
                watch=True,
                timeout_seconds=WATCH_SECONDS,
                _preload_content=False,
                _request_timeout=(_TIMEOUT_SECONDS[0], WATCH_SECONDS + _TIMEOUT_SECONDS[1]),
            )
            try:
                yield from followed(answer["items"], json_lines(stream.stream()), what)
            finally:
                stream.close()

    def shut_down(self, workflow: str, *, exit_handlers: bool) -> None:
        """Stop a Workflow, with or without running its exit handlers."""
        patch = {"spec": {"shutdown": "Stop" if exit_handlers else "Terminate"}}
        with _translated(f"stopping workflow {workflow}"):
            self._objects.patch_namespaced_custom_object(
                _GROUP, _VERSION, self._namespace, "workflows", workflow, patch, _request_timeout=_TIMEOUT_SECONDS
            )

    def logs(self, workflows: list[str], selector: str, *, follow: bool) -> Iterator[str]:
        """Yield log lines of the selected pods that still exist; with ``follow``, also new lines."""
        del workflows  # the selector names the run
        with _translated("reading the pods' logs"):
            yield from PodLogs(self._core, self._namespace, selector).lines(follow=follow)

    def _list(self, plural: str, selector: str, what: str) -> list[WorkflowObject]:
        items: list[WorkflowObject] = self._list_whole(plural, selector, what)["items"]
        return items

    def _list_whole(self, plural: str, selector: str, what: str) -> dict[str, Any]:
        with _translated(what):
            try:
                answer: dict[str, Any] = self._objects.list_namespaced_custom_object(
                    _GROUP,
                    _VERSION,
                    self._namespace,
                    plural,
                    label_selector=selector,
                    _request_timeout=_TIMEOUT_SECONDS,
                )
            except ApiException as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    raise ConfigurationError(
                        f"the cluster has no {plural}.{_GROUP}: install Argo Workflows 3.7 or later, then nashdex"
                    ) from error
                raise
        return answer


@contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except ApiException as error:
        raise refusal(error.status, error.body, what) from error
    except urllib3.exceptions.HTTPError as error:
        raise _unreachable(what, error) from error


def _unreachable(what: str, error: Exception) -> TryAgainError:
    cause = getattr(error, "reason", None) or error
    return TryAgainError(
        f"{what}: the cluster does not respond ({cause}); check KUBECONFIG and the network, then try again"
    )
