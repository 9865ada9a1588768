"""The manifest of a finished shard: the winning attempt, its objects with checksums, and integer counts."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import AttemptIdField
from nashdex.core.steps import StepName


class StoredObject(Model):
    """One object that an attempt wrote."""

    key: str = Field(description="Relative to the run's URI.")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: NonNegativeInt


class Manifest(Document):
    """Written last and only if absent. A shard is done exactly when its manifest exists."""

    step: StepName
    iteration: NonNegativeInt
    shard: NonNegativeInt
    attempt: AttemptIdField
    objects: dict[str, StoredObject] = Field(description="Objects by the name that the step gave them.")
    counts: dict[str, int] = Field(default_factory=dict, description="Integers only: battles, decisions, updates.")
    seconds: NonNegativeFloat = Field(description="Wall time of the winning attempt.")
    cpu_seconds: NonNegativeFloat = Field(default=0.0, description="CPU time of the attempt and its child processes.")
    nashdex_version: str
