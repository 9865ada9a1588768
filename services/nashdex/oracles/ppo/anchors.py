"""The anchors of a learning curve that are networks of the run: what training began from, and the first policy."""

from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.space import Space
from nashdex.learning.references import SnapshotReference
from nashdex.learning.settings import FIRST, START, EvaluationSettings
from nashdex.oracles.interface import Task
from nashdex.policies.archive import load_network
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written


def anchor_networks(
    task: Task, settings: EvaluationSettings, start: SnapshotReference, space: Space
) -> dict[PolicyId, ActorCritic]:
    """Return the networks that the settings' anchors ``start`` and ``first`` mean, by these names.

    Raises:
        DataError: the first iteration's policy is missing, altered, or of another space.
    """
    networks = {}
    if settings.every_decisions and START in settings.anchors:
        networks[PolicyId(START)] = start.network
    if settings.every_decisions and FIRST in settings.anchors:
        networks[PolicyId(FIRST)] = start.network if task.plan.iteration == 0 else _first(task, space)
    return networks


def _first(task: Task, space: Space) -> ActorCritic:
    """Return the network that this shard's first training made."""
    manifest = read_manifest(task.store, 0, StepName.TRAIN, task.shard)
    result = read_written(task.store, manifest, TRAINING_RESULT, TrainingResult)
    return load_network(task.store, BarePolicyId(result.policy), space)
