"""Checkpoints: one object of tensors under an attempt, and a small document that points to the newest.

The document is replaced in one write, after the tensors are stored, so a process may die at any instruction. A later
attempt at the shard resumes from it and reaches the same bits.

The next iteration goes on with what a run did before it: how much it trained, Adam's moments, and controllers. Without
Adam's moments, the first hundreds of updates of every iteration would be as large as a new network's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import Field
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core import keys
from nashdex.core.documents import Document, SealedDocument
from nashdex.core.errors import DataError, NoObjectError, TryAgainError
from nashdex.core.ids import AttemptId
from nashdex.core.manifest import Manifest, StoredObject
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.damping import ControllerState
from nashdex.learning.updates.state import TrainingState
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.archive import tensors_bytes
from nashdex.store.attempt import find_manifest, read_object
from nashdex.store.checked import find_object, read_described
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore

_CHECKPOINT: Final = "checkpoint-"
_TENSORS: Final = ".safetensors"
SNAPSHOT: Final = "snapshot-"
"""Names of a pool's weights begin with this."""


class Checkpoint(SealedDocument):
    """The newest checkpoint of a shard."""

    inputs: str = Field(description="Fingerprint of the data. A checkpoint of other data is ignored.")
    state: TrainingState
    tensors: StoredObject


class Checkpoints:
    """Saves and finds the checkpoints of one shard of the train step."""

    def __init__(
        self,
        store: ObjectStore,
        iteration: int,
        shard: int,
        attempt: AttemptId,
        inputs: str,
        *,
        saves: bool = True,
    ) -> None:
        """With ``saves`` false, only read them: another process of the same training writes."""
        self._saves = saves
        self._store = store
        self._iteration = iteration
        self._shard = shard
        self._attempt = attempt
        self._inputs = inputs
        self._key = keys.checkpoint(iteration, StepName.TRAIN, shard)
        self._forgotten: list[str] = []
        self._update = 0
        """Optimiser steps before the newest checkpoint of this attempt, which it loaded or saved."""

    def save(self, state: TrainingState, tensors: Mapping[str, Tensor]) -> None:
        """Write a checkpoint, point to it, and remove the one before and weights that are forgotten.

        A later one, of another attempt that still runs, stays instead.
        """
        if not self._saves:
            return
        self._update = state.update
        before = self._read()
        if self._is_later(before):
            return
        data = tensors_bytes(tensors)
        name = f"{_CHECKPOINT}{state.update:08d}{_TENSORS}"
        key = keys.attempt_object(self._iteration, StepName.TRAIN, self._shard, self._attempt, name)
        stored = StoredObject.of(key, data)
        self._store.put(key, data)
        self._store.put(self._key, Checkpoint(inputs=self._inputs, state=state, tensors=stored).to_json())
        if before is not None and before.tensors.key != key:
            self._store.delete(before.tensors.key)
        while self._forgotten:
            self._store.delete(self._forgotten.pop())

    def load(self) -> tuple[TrainingState, dict[str, Tensor]] | None:
        """Return the newest checkpoint, or None where there is none of the same data.

        Raises:
            DataError: it is missing a part, truncated or altered.
        """
        checkpoint = self._read()
        while checkpoint is not None and checkpoint.inputs == self._inputs:
            self._update = checkpoint.state.update
            try:
                return checkpoint.state, self._tensors(checkpoint.tensors)
            except NoObjectError:
                # An attempt that lost its node, and still runs, saved a newer one meanwhile and removed this.
                before, checkpoint = checkpoint, self._read()
                if checkpoint == before:
                    raise
        return None

    def is_overtaken(self) -> bool:
        """Say whether another attempt at the shard, which still runs, has saved a later checkpoint than this one."""
        return self._is_later(self._read())

    def weights(self, stored: StoredObject) -> dict[str, Tensor]:
        """Return the weights that ``keep_weights`` of this attempt or of an earlier one wrote.

        Raises:
            DataError: they are missing, truncated or altered.
            TryAgainError: another attempt at the shard, which still runs, is further and has removed them.
        """
        try:
            return self._tensors(stored)
        except NoObjectError as error:
            if self.is_overtaken():
                raise TryAgainError(
                    f"{self._store.uri}/{stored.key} was removed by another attempt at the shard, which is further. "
                    "Run the step again: it goes on from there"
                ) from error
            raise

    def _tensors(self, stored: StoredObject) -> dict[str, Tensor]:
        remedy = f"Remove {self._key} to train the shard from its beginning"
        data = read_described(self._store, stored, remedy)
        try:
            return safetensors.load(data)
        except SafetensorError as error:
            raise DataError(f"{self._store.uri}/{stored.key} is not safetensors ({error}). {remedy}") from error

    def keep_weights(self, name: str, weights: Mapping[str, Tensor]) -> StoredObject:
        """Write weights that checkpoints refer to; ``name`` begins with ``SNAPSHOT``."""
        data = tensors_bytes(weights)
        key = keys.attempt_object(self._iteration, StepName.TRAIN, self._shard, self._attempt, f"{name}{_TENSORS}")
        self._store.put(key, data)
        return StoredObject.of(key, data)

    def forget(self, stored: StoredObject) -> None:
        """Remove weights of ``keep_weights`` once a checkpoint is saved: the newest one still refers to them."""
        self._forgotten.append(stored.key)

    def _is_later(self, checkpoint: Checkpoint | None) -> bool:
        if checkpoint is None or checkpoint.inputs != self._inputs:
            return False
        return checkpoint.state.update > self._update

    def _read(self) -> Checkpoint | None:
        data = find_object(self._store, self._key)
        return None if data is None else Checkpoint.from_json(data, f"{self._store.uri}/{self._key}")


OPTIMISER: Final = "optimiser.safetensors"
CONTROLLERS: Final = "controllers.json"
"""Objects of an attempt at the train step."""


class _Controllers(Document):
    """States of the controllers, by the name of the value that each multiplies."""

    controllers: dict[str, ControllerState]


@dataclass(frozen=True)
class Continuation:
    """The state that belongs to the weights of a finished training."""

    optimiser: Mapping[str, Tensor]
    """Adam's state: PARAMETER/KEY, such as ``actor.weight/exp_avg``."""
    controllers: Mapping[str, ControllerState]

    def objects(self) -> dict[str, bytes]:
        """Return what ``read`` reads, by name."""
        document = _Controllers(controllers=dict(self.controllers))
        return {OPTIMISER: tensors_bytes(self.optimiser), CONTROLLERS: document.to_json()}

    @classmethod
    def read(cls, store: ObjectStore, manifest: Manifest) -> "Continuation | None":
        """Return what a training left; None if it left nothing.

        Raises:
            DataError: it is missing, altered or damaged.
        """
        if OPTIMISER not in manifest.objects:
            return None
        try:
            optimiser = safetensors.load(read_object(store, manifest, OPTIMISER))
        except SafetensorError as error:
            raise DataError(f"{manifest.objects[OPTIMISER].key} is not safetensors: {error}") from error
        controllers = _Controllers.from_json(
            read_object(store, manifest, CONTROLLERS), manifest.objects[CONTROLLERS].key
        )
        return cls(optimiser, controllers.controllers)


@dataclass(frozen=True)
class Before:
    """Updates and decisions of the iterations before, and the state of the training that made the learner."""

    updates: int = 0
    decisions: int = 0
    continuation: Continuation | None = None
    """None: another oracle trained the learner, or none did."""

    @classmethod
    def read(cls, store: ObjectStore, plan: IterationPlan, shard: int) -> "Before":
        """Return what the run did before the iteration of ``plan``, along this shard of its training.

        Raises:
            DataError: an object of the iteration before is missing or altered.
        """
        before = find_manifest(store, plan.iteration - 1, StepName.TRAIN, shard) if plan.iteration else None
        if before is None:
            return cls()
        result = read_written(store, before, TRAINING_RESULT, TrainingResult)
        return cls(result.num_run_updates, result.num_run_decisions, _continuation(store, plan, shard, before))


def _continuation(store: ObjectStore, plan: IterationPlan, shard: int, before: Manifest) -> Continuation | None:
    """Return the state that this shard's training left with the learner's weights; None if another oracle or shard did.

    ``before`` is of the iteration before. In a league with roles, an earlier one trained the learner.
    """
    result = read_written(store, before, TRAINING_RESULT, TrainingResult)
    if result.policy != plan.learner:
        trained_in = next((entry.iteration for entry in plan.population.policies if entry.id == plan.learner), None)
        found = None if trained_in is None else find_manifest(store, trained_in, StepName.TRAIN, shard)
        if found is None:
            return None
        before, result = found, read_written(store, found, TRAINING_RESULT, TrainingResult)
    goes_on = (result.policy, result.oracle) == (plan.learner, plan.oracle)
    return Continuation.read(store, before) if goes_on else None
