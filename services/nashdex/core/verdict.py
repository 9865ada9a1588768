"""The document that says how a run ended. A run without one is running, or was killed."""

from enum import StrEnum

from pydantic import Field

from nashdex.core.documents import Document


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
