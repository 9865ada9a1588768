"""Manifests: of a run's first objects, and of a finished shard. They name objects with their checksums."""

import hashlib
from collections.abc import Callable
from typing import Annotated, Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model, SealedDocument
from nashdex.core.ids import AttemptIdField
from nashdex.core.steps import StepName

Count = Annotated[int, Field(ge=0, lt=2**63)]


class StoredObject(Model):
    """One object that an attempt wrote."""

    key: str = Field(description="Relative to the run's URI.")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: NonNegativeInt

    @classmethod
    def of(cls, key: str | Callable[[str], str], data: bytes) -> Self:
        """Return the description of ``data`` under ``key``, which may follow from the hash."""
        sha256 = hashlib.sha256(data).hexdigest()
        return cls(key=key if isinstance(key, str) else key(sha256), sha256=sha256, size_bytes=len(data))


class RunManifest(SealedDocument):
    """The root of a run: names the objects that are stored before its first step."""

    objects: dict[str, StoredObject] = Field(description="Stored objects by key.")


class Manifest(SealedDocument):
    """Written last and only if absent. A shard is done exactly when its manifest exists."""

    schema_version: int = 2
    step: StepName
    iteration: NonNegativeInt
    shard: NonNegativeInt
    attempt: AttemptIdField
    objects: dict[str, StoredObject] = Field(description="Objects by the name that the step gave them.")
    counts: dict[str, Count] = Field(default_factory=dict, description="Integers only: battles, decisions, updates.")
    seconds: NonNegativeFloat = Field(description="Wall time of the winning attempt.")
    cpu_seconds: NonNegativeFloat = Field(default=0.0, description="CPU time of the attempt and its child processes.")
    gpu_seconds: NonNegativeFloat = Field(default=0.0, description="Wall time for which the attempt held a GPU.")
    store_requests: dict[str, Count] = Field(
        default_factory=dict, description="Requests of the attempt by operation, without the manifest's own."
    )
    store_bytes_read: Count = 0
    store_bytes_written: Count = 0
    nashdex_version: str
