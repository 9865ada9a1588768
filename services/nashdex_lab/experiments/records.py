"""What an experiment's runs gave: one record a run, in ``FILE.results.json`` beside the plan."""

import hashlib
import json
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyIdField, RunIdField
from nashdex.core.results import Evaluation
from nashdex.core.user_input import read_file
from nashdex_lab.experiments.rules import EXPLOITER


def now() -> str:
    """Return the time, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Status(StrEnum):
    """Where a run is."""

    PLANNED = "planned"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INVALIDATED = "invalidated"


class Match(Model):
    """A run's policy against one anchor."""

    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    score: float = Field(ge=0, le=1, description="A draw counts half.")
    low: float = Field(description="95 % interval by side-swapped pairs.")
    high: float
    battles: NonNegativeInt
    command: str = Field(description="Repeats it.")


class Exploited(Model):
    """A run's policy against the exploiter that was trained against it."""

    score: float = Field(ge=0, le=1, description="The policy's: at most its worst case. A draw counts half.")
    low: float = Field(description="95 % interval by side-swapped pairs.")
    high: float
    battles: NonNegativeInt
    decisions: NonNegativeInt = Field(description="Decisions that the exploiter learned from.")
    cpu_minutes: NonNegativeFloat
    command: str = Field(description="Repeats it.")


class Registered(Model):
    """What is registered."""

    plan: dict[str, Any] = Field(description="The registered part of the plan's file, arms by name.")
    budgets: dict[str, NonNegativeInt | None] = Field(
        description="Decisions that a run of each arm learns from; null for an oracle without such a number."
    )
    run_settings: dict[str, str] = Field(description="Fingerprint of each run's settings.")


class Registration(Model):
    """What was registered, with its hash."""

    digest: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the content as JSON with sorted keys.")
    registered: str = Field(description="UTC.")
    is_after_runs: bool = Field(description="Whether a run had begun before.")
    content: Registered

    @classmethod
    def of(cls, content: Registered, *, registered: str, is_after_runs: bool) -> Self:
        """Return the registration of ``content``."""
        return cls(digest=_digest(content), registered=registered, is_after_runs=is_after_runs, content=content)

    @property
    def short_digest(self) -> str:
        """What people compare."""
        return self.digest[:16]

    def require_whole(self, source: str) -> None:
        """Check the hash.

        Raises:
            DataError: the content was altered.
        """
        if (digest := _digest(self.content)) != self.digest:
            raise DataError(
                f"{source}: the registration was altered: its hash is {digest[:16]}, it says {self.short_digest}; "
                "restore the file"
            )


def _digest(content: Registered) -> str:
    text = json.dumps(content.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class RunRecord(Model):
    """One run."""

    run: RunIdField = Field(description="EXPERIMENT-ARM-SEED.")
    stored: RunIdField | None = Field(None, description="The run in the store, where it is another arm's.")
    arm: str
    seed: NonNegativeInt
    status: Status
    reason: str = Field("", description="Reason for a failure, a stop or an invalidation.")
    command: str = Field(description="Starts or continues it.")
    settings: str = Field(description="Fingerprint of its settings.")
    registration: str = Field(
        "", description="Hash of the registration that it began under; empty before there was one."
    )
    version: str = Field("", description="Version of nashdex.")
    began: str = Field("", description="UTC.")
    ended: str = Field("", description="UTC.")
    policy: PolicyIdField | None = Field(None, description="The policy that is measured, or the last one of a mixture.")
    decisions: NonNegativeInt = Field(0, description="Decisions that it learned from, over all iterations.")
    cpu_minutes: NonNegativeFloat = Field(0.0, description="CPU time of collecting and training, without evaluations.")
    rollbacks: NonNegativeInt = 0
    matches: dict[str, Match] = Field(default_factory=dict, description="By anchor.")
    exploiter: Exploited | None = Field(
        None,
        exclude_if=lambda exploited: exploited is None,
        description="Its score against its exploiter, where one was trained.",
    )
    summary: dict[str, float] = Field(default_factory=dict, description="Final values of the last training.")
    curve: tuple[Evaluation, ...] = Field((), description="Evaluations during training; decisions of the whole run.")

    @property
    def scores(self) -> dict[str, Match | Exploited]:
        """What its policy scored: by anchor, and against its exploiter where it has one."""
        return {**self.matches, **({} if self.exploiter is None else {EXPLOITER: self.exploiter})}


class Results(Document):
    """The records of an experiment."""

    experiment: str
    rule: str = Field("", description="Digest of hypothesis, verdict and measurement, in results without registration.")
    registration: Registration | None = None
    began: str = Field(description="UTC.")
    runs: tuple[RunRecord, ...]

    def record(self, run: str) -> RunRecord | None:
        """Return the record of a run, if there is one."""
        return next((record for record in self.runs if record.run == run), None)

    def with_record(self, record: RunRecord) -> "Results":
        """Return these results with ``record`` added, or in the place of the run's earlier one."""
        if self.record(record.run) is None:
            return self.model_copy(update={"runs": (*self.runs, record)})
        runs = tuple(record if one.run == record.run else one for one in self.runs)
        return self.model_copy(update={"runs": runs})


def read_results(path: Path) -> Results | None:
    """Return the results in a file, or None if there is none.

    Raises:
        DataError: the file holds something else.
    """
    if not path.exists():
        return None
    results = Results.from_json(read_file(path, "results of an experiment"), str(path))
    if results.registration is not None:
        results.registration.require_whole(str(path))
    return results
