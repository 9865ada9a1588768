"""A cluster through the Argo server, for users without access to the Kubernetes API.

The only module that imports argo_workflows.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Self

import argo_workflows
import urllib3
from argo_workflows.api import info_service_api, workflow_service_api, workflow_template_service_api
from argo_workflows.exceptions import ApiException
from argo_workflows.model.io_argoproj_workflow_v1alpha1_workflow_create_request import (
    IoArgoprojWorkflowV1alpha1WorkflowCreateRequest,
)
from argo_workflows.model.io_argoproj_workflow_v1alpha1_workflow_stop_request import (
    IoArgoprojWorkflowV1alpha1WorkflowStopRequest,
)
from argo_workflows.model.io_argoproj_workflow_v1alpha1_workflow_terminate_request import (
    IoArgoprojWorkflowV1alpha1WorkflowTerminateRequest,
)

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex_cluster.client import (
    NAME_LABEL,
    WATCH_SECONDS,
    Cluster,
    Template,
    WorkflowObject,
    followed,
    json_lines,
    refusal,
)
from nashdex_cluster.site import Site

TOKEN_VARIABLE = "ARGO_TOKEN"  # noqa: S105 - a variable's name, which argo's own command line reads too
SKIP_VERIFY_VARIABLE = "ARGO_INSECURE_SKIP_VERIFY"
_TIMEOUT_SECONDS = (5, 60)
_CONTAINER = "main"


class ArgoServer:
    """A ``Cluster`` whose workflows go through the Argo server.

    The server serves neither ConfigMaps nor Secrets; these come from the Kubernetes API if it is reachable. Responses
    are read as plain JSON, not through the client's models, which reject fields that a newer server adds.
    """

    def __init__(self, api_client: argo_workflows.ApiClient, namespace: str, beside: Cluster | None) -> None:
        self._namespace = namespace
        self._beside = beside
        self._address = api_client.configuration.host
        self._info = info_service_api.InfoServiceApi(api_client)
        self._workflows = workflow_service_api.WorkflowServiceApi(api_client)
        self._templates = workflow_template_service_api.WorkflowTemplateServiceApi(api_client)

    @classmethod
    def open(cls, address: str, *, token: str | None, namespace: str, beside: Cluster | None) -> Self:
        """Return the cluster behind a server.

        Args:
            address: ``host:port``, or a URL.
            token: bearer token; ARGO_TOKEN takes precedence.
            namespace: the namespace.
            beside: the same cluster through the Kubernetes API, if that is reachable.

        Raises:
            ConfigurationError: there is no token.
        """
        token = os.environ.get(TOKEN_VARIABLE, "").removeprefix("Bearer ") or token
        if not token:
            raise ConfigurationError(
                f"Argo server {address} needs a bearer token, and the kubeconfig has none: set {TOKEN_VARIABLE}, for "
                "example to the output of `kubectl create token nashdex-submitter`"
            )
        configuration = argo_workflows.Configuration(
            host=address if "://" in address else f"https://{address}",
            api_key={"BearerToken": token},
            api_key_prefix={"BearerToken": "Bearer"},
        )
        if os.environ.get(SKIP_VERIFY_VARIABLE, "").lower() in {"1", "true"}:
            configuration.verify_ssl = False
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # asked for
        configuration.retries = 1
        return cls(argo_workflows.ApiClient(configuration), namespace, beside)

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self._namespace

    def argo_version(self) -> str | None:
        """Return the server's version."""
        return str(self._ask("reading Argo's version", self._info.get_version)["version"])

    def templates(self) -> Mapping[str, Template]:
        """Return each WorkflowTemplate of nashdex, by name."""
        items = self._list(
            self._templates.list_workflow_templates, f"{NAME_LABEL}=nashdex", "reading the WorkflowTemplates"
        )
        return Template.by_name(items)

    def site(self) -> Site | None:
        """Return the site's configuration; None without the Kubernetes API."""
        return self._beside.site() if self._beside else None

    def has_secret(self, name: str) -> bool | None:
        """Return whether a Secret exists; None without the Kubernetes API."""
        return self._beside.has_secret(name) if self._beside else None

    def create_workflow(self, workflow: WorkflowObject) -> str:
        """Create a Workflow; return its name."""
        body = IoArgoprojWorkflowV1alpha1WorkflowCreateRequest(workflow=workflow, _check_type=False)
        created = self._ask("creating the workflow", self._workflows.create_workflow, self._namespace, body)
        return str(created["metadata"]["name"])

    def workflows(self, selector: str) -> list[WorkflowObject]:
        """Return the Workflows that a label selector selects."""
        return self._list(self._workflows.list_workflows, selector, "reading the workflows")

    def watch(self, selector: str) -> Iterator[list[WorkflowObject]]:
        """Yield the Workflows that a label selector selects, at once and after every change, for some minutes."""
        what = "watching the workflows"
        listed = self._ask(what, self._workflows.list_workflows, self._namespace, list_options_label_selector=selector)
        with _translated(what, self._address):
            stream = self._workflows.watch_workflows(
                self._namespace,
                list_options_label_selector=selector,
                list_options_resource_version=listed["metadata"]["resourceVersion"],
                list_options_timeout_seconds=str(WATCH_SECONDS),
                _preload_content=False,
                _check_return_type=False,
                _request_timeout=(_TIMEOUT_SECONDS[0], WATCH_SECONDS + _TIMEOUT_SECONDS[1]),
            )
            try:
                yield from followed(listed.get("items") or [], _events(stream), what)
            finally:
                stream.close()

    def shut_down(self, workflow: str, *, exit_handlers: bool) -> None:
        """Stop a Workflow, with or without running its exit handlers."""
        if exit_handlers:
            method, request = self._workflows.stop_workflow, IoArgoprojWorkflowV1alpha1WorkflowStopRequest
        else:
            method, request = self._workflows.terminate_workflow, IoArgoprojWorkflowV1alpha1WorkflowTerminateRequest
        self._ask(f"stopping workflow {workflow}", method, self._namespace, workflow, request(name=workflow))

    def logs(self, workflows: list[str], selector: str, *, follow: bool) -> Iterator[str]:
        """Yield log lines of the selected pods that still exist; with ``follow``, only of the last workflow."""
        what = "reading the pods' logs"
        for workflow in workflows[-1:] if follow else workflows:
            with _translated(what, self._address):
                answer = self._workflows.workflow_logs(
                    self._namespace,
                    workflow,
                    selector=selector,
                    log_options_container=_CONTAINER,
                    log_options_follow=follow,
                    _preload_content=False,
                    _check_return_type=False,
                    _request_timeout=None if follow else _TIMEOUT_SECONDS,
                )
                yield from _entries(answer)

    def _list(self, method: Any, selector: str, what: str) -> list[WorkflowObject]:  # noqa: ANN401 - generated code
        answer = self._ask(what, method, self._namespace, list_options_label_selector=selector)
        return answer.get("items") or []

    def _ask(self, what: str, method: Any, *arguments: Any, **options: str) -> dict[str, Any]:  # noqa: ANN401 - as above
        with _translated(what, self._address):
            answer = method(
                *arguments,
                _preload_content=False,
                _check_return_type=False,
                _request_timeout=_TIMEOUT_SECONDS,
                **options,
            )
            document: dict[str, Any] = json.loads(answer.data)
            return document


def _entries(answer: urllib3.HTTPResponse) -> Iterator[str]:
    """Yield the lines in a stream of ``{"result": {"content": …, "podName": …}}``, one a line."""
    for document in json_lines(answer.stream()):
        entry = document.get("result", {})
        yield f"{entry.get('podName', '')} | {entry.get('content', '')}"


def _events(answer: urllib3.HTTPResponse) -> Iterator[Mapping[str, Any]]:
    """Yield the events in a stream of ``{"result": {"type": …, "object": …}}`` or ``{"error": …}``, one a line."""
    for document in json_lines(answer.stream()):
        if "error" in document:
            yield {"type": "ERROR", "object": {"code": document["error"].get("http_code"), **document["error"]}}
        else:
            yield document["result"]


@contextmanager
def _translated(what: str, address: str) -> Iterator[None]:
    try:
        yield
    except ApiException as error:
        if error.status == HTTPStatus.NOT_FOUND and not error.body:
            raise ConfigurationError(
                f"{address} is not an Argo server: it responds with 404; check --server"
            ) from error
        raise refusal(error.status, error.body, what) from error
    except urllib3.exceptions.HTTPError as error:
        cause = getattr(error, "reason", None) or error
        raise TryAgainError(
            f"{what}: Argo server {address} does not respond ({cause}); check --server, for a self-signed "
            f"certificate set {SKIP_VERIFY_VARIABLE}=true, or omit --server to use the Kubernetes API"
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{what}: {address} does not respond like an Argo server: {error}") from error
