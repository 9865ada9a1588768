"""The interface to a cluster, and the errors that its responses mean."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol, Self

from nashdex.core.errors import ConfigurationError, NashdexError, TryAgainError
from nashdex_cluster.site import Site

WorkflowObject = Mapping[str, Any]
"""A Workflow as the API returns it."""

RUN_LABEL = "nashdex.dev/run"
ITERATION_LABEL = "nashdex.dev/iteration"
SHARD_LABEL = "nashdex.dev/shard"
COMPONENT_LABEL = "app.kubernetes.io/component"
NAME_LABEL = "app.kubernetes.io/name"
VERSION_LABEL = "app.kubernetes.io/version"


@dataclass(frozen=True)
class Template:
    """What a WorkflowTemplate says about itself."""

    version: str
    """Version of nashdex in the template's label; empty without the label."""
    parallelism: int | None
    """Pods that run at once in a Workflow of it; None for any number."""

    @classmethod
    def by_name(cls, items: Iterable[WorkflowObject]) -> dict[str, Self]:
        """Return the templates of an API's list."""
        return {
            item["metadata"]["name"]: cls(
                item["metadata"]["labels"].get(VERSION_LABEL, ""), item.get("spec", {}).get("parallelism")
            )
            for item in items
        }


class Cluster(Protocol):
    """A namespace with Argo Workflows. This protocol is the whole surface.

    Every method raises ConfigurationError if the cluster rejects the request, and TryAgainError if it does not respond.
    """

    @property
    def namespace(self) -> str:
        """The namespace."""

    def argo_version(self) -> str | None:
        """Return Argo's version, such as ``v3.7.18``; None if it cannot be read."""

    def templates(self) -> Mapping[str, Template]:
        """Return each WorkflowTemplate of nashdex, by name."""

    def site(self) -> Site | None:
        """Return the site's configuration; None if it may not be read."""

    def has_secret(self, name: str) -> bool | None:
        """Return whether a Secret exists; None if Secrets may not be read."""

    def create_workflow(self, workflow: WorkflowObject) -> str:
        """Create a Workflow; return its name."""

    def workflows(self, selector: str) -> list[WorkflowObject]:
        """Return the Workflows that a label selector selects."""

    def watch(self, selector: str) -> Iterator[list[WorkflowObject]]:
        """Yield the Workflows that a label selector selects, at once and after every change, for some minutes."""

    def shut_down(self, workflow: str, *, exit_handlers: bool) -> None:
        """Stop a Workflow, with or without running its exit handlers."""

    def logs(self, workflows: list[str], selector: str, *, follow: bool) -> Iterator[str]:
        """Yield log lines of the selected pods that still exist; with ``follow``, also new lines."""


def refusal(status: int | None, body: object, what: str) -> NashdexError:
    """Return the error for an unsuccessful response to the request ``what``."""
    message = _message(body) or f"status {status}"
    if status == HTTPStatus.UNAUTHORIZED:
        return ConfigurationError(f"{what}: the cluster rejected the credentials ({message}); log in again")
    if status == HTTPStatus.FORBIDDEN:
        return ConfigurationError(f"{what}: not allowed ({message}); ask for the role nashdex-submitter")
    if status is None or status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TryAgainError(f"{what}: the cluster failed ({message}); try again")
    return ConfigurationError(f"{what}: rejected: {message}")


def _message(body: object) -> str:
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.strip()[:300]


WATCH_SECONDS = 240
"""After this long the API ends the stream; whoever watches begins again with a list."""
_GONE = 410


def json_lines(chunks: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON documents of a stream, one a line."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in filter(None, whole):
            yield json.loads(line)


def followed(
    listed: Iterable[WorkflowObject], events: Iterable[Mapping[str, Any]], what: str
) -> Iterator[list[WorkflowObject]]:
    """Yield the Workflows as they were listed, and again after every event.

    ``events`` are what changed since ``listed``, as ``{"type": …, "object": …}``; ``what`` names the request in errors.

    Raises:
        NashdexError: the API ended the stream with an error.
    """
    objects = {item["metadata"]["name"]: item for item in listed}
    yield list(objects.values())
    for event in events:
        changed, kind = event["object"], event["type"]
        if kind == "ERROR":
            if changed.get("code") == _GONE:
                return  # the list is too old for the API: begin again
            raise refusal(changed.get("code"), json.dumps(changed), what)
        if kind == "BOOKMARK":
            continue
        name = changed["metadata"]["name"]
        if kind == "DELETED":
            objects.pop(name, None)
        else:
            objects[name] = changed
        yield list(objects.values())
