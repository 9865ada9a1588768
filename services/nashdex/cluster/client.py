"""What commands ask of a cluster, whichever way it is reached; and what its refusals mean."""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Protocol

from nashdex.cluster.site import Site
from nashdex.core.errors import ConfigurationError, NashdexError, TryAgainError

WorkflowObject = Mapping[str, Any]
"""A Workflow as the API has it."""

RUN_LABEL = "nashdex.dev/run"
ITERATION_LABEL = "nashdex.dev/iteration"
SHARD_LABEL = "nashdex.dev/shard"
COMPONENT_LABEL = "app.kubernetes.io/component"
NAME_LABEL = "app.kubernetes.io/name"
VERSION_LABEL = "app.kubernetes.io/version"


class Cluster(Protocol):
    """A namespace with Argo Workflows. This is the whole of the surface.

    Every method raises ConfigurationError where the cluster refuses and TryAgainError where it does not answer.
    """

    @property
    def namespace(self) -> str:
        """The namespace."""

    def argo_version(self) -> str | None:
        """Return Argo's version, such as ``v3.7.18``; None where nothing that may be read tells."""

    def template_versions(self) -> Mapping[str, str]:
        """Return the version label of each WorkflowTemplate of nashdex, by name."""

    def site(self) -> Site | None:
        """Return what is set for this site; None where it may not be read from here."""

    def has_secret(self, name: str) -> bool | None:
        """Return whether a Secret exists; None where it may not be known from here."""

    def create_workflow(self, workflow: WorkflowObject) -> str:
        """Create a Workflow; return its name."""

    def workflows(self, selector: str) -> list[WorkflowObject]:
        """Return the Workflows that a label selector selects."""

    def shut_down(self, workflow: str, *, exit_handlers: bool) -> None:
        """Stop a Workflow, with or without running its exit handlers."""

    def logs(self, workflows: list[str], selector: str, *, follow: bool) -> Iterator[str]:
        """Yield the lines of the selected pods that are still there; with ``follow``, as they come."""


def refusal(status: int | None, body: object, what: str) -> NashdexError:
    """Return the error for an answer that is no success; ``what`` was asked for."""
    message = _message(body) or f"status {status}"
    if status == HTTPStatus.UNAUTHORIZED:
        return ConfigurationError(f"{what}: the credentials are not accepted ({message}); log in to the cluster again")
    if status == HTTPStatus.FORBIDDEN:
        return ConfigurationError(f"{what}: not allowed ({message}); ask for the rights of role nashdex-submitter")
    if status is None or status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TryAgainError(f"{what}: the cluster could not answer ({message}); try again")
    return ConfigurationError(f"{what}: refused: {message}")


def _message(body: object) -> str:
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.strip()[:300]
