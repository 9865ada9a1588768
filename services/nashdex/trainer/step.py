"""The train step: one policy, found by the oracle that the iteration's plan names."""

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import Oracle
from nashdex.core.steps import StepName
from nashdex.metagame.plan import IterationPlan
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import find_manifest
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore

TrainFunction = Callable[[ObjectStore, RunSettings, IterationPlan, int], Manifest]
"""Takes the run's store, its settings, the iteration's plan and the shard."""

MODULES: MappingProxyType[Oracle, str] = MappingProxyType(
    {
        "clone": "nashdex.trainer.gradient",
        "ppo": "nashdex.trainer.gradient",
        "exact": "nashdex.trainer.tabular",
        "q-learning": "nashdex.trainer.tabular",
    }
)
"""Each has a function ``train`` of the type TrainFunction. Imported when it runs: tables need no torch."""


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Train and store one policy: a clone of the teacher, or a best response to the plan's opponents.

    Raises:
        ConfigurationError: CUDA was asked for and is not there, damping contradicts itself, or the oracle is for other
            games.
        DataError: the plan, a collect shard, a checkpoint or a policy is missing, altered or of another space.
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop; a checkpoint was saved.
    """
    if done := find_manifest(store, iteration, StepName.TRAIN, shard):
        return done
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    train: TrainFunction = import_module(MODULES[plan.oracle]).train
    return train(store, settings, plan, shard)
