"""The train step: one policy, trained by the oracle that the iteration's plan names."""

import time
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Final

import numpy as np

from nashdex.core import keys
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import BarePolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_METRICS, TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.rewards import REWARDS
from nashdex.learning.trackers import check_installed
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.interface import AnyOracle, Task, TrainableValue
from nashdex.oracles.registry import ORACLES, replays_of
from nashdex.policies.tables import save_table_policy
from nashdex.settings.networks import NetworkSettings
from nashdex.settings.run import RunSettings
from nashdex.settings.train import TrainSettings
from nashdex.store.attempt import Attempt, find_done
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore

_SAVE_NETWORK: Final = "nashdex.policies.archive:save_policy"
"""Named, since it imports torch, which tables do not need."""


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Train and store one policy.

    Raises:
        ConfigurationError: the plan's oracle or a tracker is not installed, or this machine or game cannot do what it
            needs.
        DataError: the plan, a collect shard, a checkpoint or a policy is missing, altered or of another space.
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop; a checkpoint was saved.
    """
    keeps = frozenset({keys.EXCHANGE, keys.JOURNAL_ENTRIES}) if settings.actors.keep_chunks else frozenset[str]()
    if done := find_done(store, iteration, StepName.TRAIN, shard, keeps):
        return done
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    oracle = ORACLES[plan.oracle]
    check_installed(settings.train.trackers)
    attempt = Attempt(store, iteration, StepName.TRAIN, shard)
    began_seconds = time.monotonic()
    task = Task(store, settings, plan, shard, attempt.id)
    try:
        trained = oracle.training()(task, settings.train.section_of(plan.oracle))
    except (DataError, TryAgainError):
        # Another attempt may have been faster, and then has removed what this one trained with.
        if done := find_done(store, iteration, StepName.TRAIN, shard, keeps):
            return done
        raise
    name = oracle.policy_name.format(
        iteration=iteration, learner=_models(settings.train, plan), start=_start(settings.network)
    )
    if plan.role is not None:
        name = f"{plan.role.replace('-', ' ')} {iteration}"
    parent = plan.learner if oracle.improves else None
    policy, num_parameters = _store(task, trained.policy, name, parent)
    magnet = None if trained.magnet is None else _store(task, trained.magnet, f"magnet of {name}", policy)[0]
    result = TrainingResult(
        policy=policy,
        kind=oracle.makes,
        name=name,
        parent=parent,
        oracle=plan.oracle,
        magnet=magnet,
        num_parameters=num_parameters,
        curve=trained.curve,
        seconds=time.monotonic() - began_seconds,
        # An oracle without evaluations need not measure this: the step's own time is the training's.
        **trained.measured() | {"cpu_seconds": trained.cpu_seconds or attempt.cpu_seconds},
    )
    attempt.write(TRAINING_RESULT, result.to_json())
    attempt.write(TRAINING_METRICS, result.metrics())
    for object_name, data in trained.objects.items():
        attempt.write(object_name, data)
    return attempt.finish(
        {"decisions": result.num_decisions, "updates": result.num_updates, "rollbacks": result.rollbacks},
        num_gpus=_num_gpus(settings.train, oracle),
        keeps=keeps,
    )


def _num_gpus(train: TrainSettings, oracle: AnyOracle) -> int:
    """Return the number of GPUs that a shard of the step holds, whether it uses them all or not."""
    uses_gpu = train.device == "cuda" and oracle.makes == "network"
    return train.num_processes if uses_gpu else 0


def _models(train: TrainSettings, plan: IterationPlan) -> str:
    """Return the name of the players that the oracle learned from."""
    replays = replays_of(train, plan)
    if replays is None:
        return plan.learner
    return "replays" if replays.share == 1 else f"{plan.learner} and replays"


def _start(network: NetworkSettings) -> str:
    """Return the name of a network before any training."""
    policy = network.init_from.policy_id
    return "untrained network" if policy is None else f"start from {policy}"


def _store(task: Task, policy: TrainableValue, name: str, parent: BarePolicyId | None) -> tuple[BarePolicyId, int]:
    iteration = task.plan.iteration
    if isinstance(policy, np.ndarray):
        stored = save_table_policy(
            task.store, task.tree, policy, name=name, parent=parent, iteration=iteration, oracle=task.plan.oracle
        )
        return stored, int(task.tree.legal.sum())
    save_network: Callable[..., BarePolicyId] = resolve_name(_SAVE_NETWORK)
    stored = save_network(
        task.store,
        policy,
        name=name,
        parent=parent,
        iteration=iteration,
        oracle=task.plan.oracle,
        reward=task.settings.train.reward,
        reward_version=REWARDS[task.settings.train.reward].version,
        tree=task.game.tree,
    )
    return stored, policy.num_parameters
