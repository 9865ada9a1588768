"""A list of Workflows that is kept current by the API's events, instead of being listed again and again."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nashdex.cluster.client import WorkflowObject, refusal

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

    Args:
        listed: the Workflows at the start.
        events: what changed since then, as ``{"type": …, "object": …}``.
        what: names the request in errors.

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
