"""What a run did before an iteration: how much it trained, and Adam's moments and controllers to go on with.

Without Adam's moments, the first hundreds of updates of every iteration would be as large as a new network's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.damping import ControllerState
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.archive import tensors_bytes
from nashdex.store.attempt import find_manifest, read_object
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore

OPTIMISER: Final = "optimiser.safetensors"
CONTROLLERS: Final = "controllers.json"
"""Objects of an attempt at the train step."""


class _Controllers(Document):
    """The states of the controllers, by what they multiply."""

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
