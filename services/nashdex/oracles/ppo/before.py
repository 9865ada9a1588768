"""What a run did before an iteration, along one shard of its training."""

from dataclasses import dataclass

from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.updates.clock import Clock
from nashdex.learning.updates.continuation import Continuation
from nashdex.oracles.interface import Task
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.store.attempt import find_manifest
from nashdex.store.documents import read_written


@dataclass(frozen=True)
class Before:
    """Updates and decisions of the iterations before, and the state of the training that gave the learner."""

    updates: int = 0
    decisions: int = 0
    continuation: Continuation | None = None
    """None: another oracle trained the learner, or none did."""

    @classmethod
    def of(cls, task: Task) -> "Before":
        """Return what the run of ``task`` did before its iteration, along its shard.

        Raises:
            StoreError: an object of the iteration before is missing or broken.
        """
        if task.plan.iteration == 0:
            return cls()
        manifest = find_manifest(task.store, task.plan.iteration - 1, StepName.TRAIN, task.shard)
        if manifest is None:
            return cls()
        result = read_written(task.store, manifest, TRAINING_RESULT, TrainingResult)
        return cls(result.num_run_updates, result.num_run_decisions, _continuation(task, manifest, result))

    def clock(self, task: Task, settings: PpoSettings, num_collected: int) -> Clock:
        """Return the clock of the schedules, of the iteration or of the whole run, as the settings say."""
        length = max(settings.decisions, num_collected)
        if settings.damping.clock == "iteration":
            return Clock(length)
        first = 1 if task.settings.train.first.kind != settings.kind else 0
        return Clock(length * max(1, task.settings.iterations - first), self.decisions, self.updates)

    def warmup_decisions(self, settings: PpoSettings) -> int:
        """Return the decisions in which the critic learns alone: none if it goes on from the iteration before."""
        return settings.critic_warmup_decisions if self.continuation is None else 0


def _continuation(task: Task, manifest: Manifest, result: TrainingResult) -> Continuation | None:
    """Return the state that this shard's training left with the learner's weights; None if another oracle or shard did.

    ``manifest`` and ``result`` are of the iteration before. In a league with roles, an earlier one trained the learner.
    """
    plan = task.plan
    if result.policy != plan.learner:
        trained_in = next((entry.iteration for entry in plan.population.policies if entry.id == plan.learner), None)
        found = None if trained_in is None else find_manifest(task.store, trained_in, StepName.TRAIN, task.shard)
        if found is None:
            return None
        manifest, result = found, read_written(task.store, found, TRAINING_RESULT, TrainingResult)
    goes_on = (result.policy, result.oracle) == (plan.learner, plan.oracle)
    return Continuation.read(task.store, manifest) if goes_on else None
