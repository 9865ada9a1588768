"""How a run ended, in its store: for whoever watches the store, such as the exporter."""

import math
import time
from enum import StrEnum

from pydantic import Field

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.redaction import redacted
from nashdex.store.protocol import ObjectStore


class Phase(StrEnum):
    """The state of a run."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class Verdict(Document):
    """How a run ended. A run that continues deletes it."""

    phase: Phase
    iteration: int = Field(ge=0)
    """The iteration in which it ended."""
    ended_timestamp_seconds: float = Field(ge=0)
    """Unix time."""
    message: str = ""
    """The first failure; empty if the run succeeded."""


_MAX_MESSAGE = 2000


def record_end(
    store: ObjectStore, phase: Phase, iteration: int, message: str = "", *, since_seconds: float = math.inf
) -> None:
    """Write the verdict on a run, with the current time. A run that has succeeded keeps its verdict.

    ``store`` is rooted at the run, ``iteration`` is the one in which it ended, and ``message`` the first failure. A
    verdict that was written at ``since_seconds`` or later, in Unix time, stays.
    """
    document = Verdict(
        phase=phase, iteration=iteration, ended_timestamp_seconds=time.time(), message=redacted(message)[:_MAX_MESSAGE]
    ).to_json()
    if not store.put_if_absent(keys.VERDICT, document) and not _is_kept(store, since_seconds):
        store.put(keys.VERDICT, document)


def reopen(store: ObjectStore) -> None:
    """Delete the verdict of an earlier try, because the run continues. ``store`` is rooted at the run."""
    if not _is_kept(store):
        store.delete(keys.VERDICT)


def read_verdict(store: ObjectStore) -> Verdict | None:
    """Return the verdict on a run; None if it has not ended. ``store`` is rooted at the run.

    Raises:
        DataError: the verdict is no such document.
    """
    try:
        data = store.get(keys.VERDICT)
    except DataError:
        return None
    return Verdict.from_json(data, f"{store.uri}/{keys.VERDICT}")


def _is_kept(store: ObjectStore, since_seconds: float = math.inf) -> bool:
    try:
        verdict = read_verdict(store)
    except DataError:
        return False  # of another version, or altered: replace it
    return verdict is not None and (
        verdict.phase is Phase.SUCCEEDED or verdict.ended_timestamp_seconds >= since_seconds
    )
