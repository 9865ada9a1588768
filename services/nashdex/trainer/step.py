"""The train step: one policy from the iteration's trajectories."""

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.settings import NetworkSettings, RunSettings, TrainSettings
from nashdex.core.steps import StepName
from nashdex.games.registry import game_for
from nashdex.games.space import Space
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.archive import load_network, save_policy
from nashdex.policies.network import ActorCritic
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trainer import cloning, ppo
from nashdex.trainer.batch import make_batch, num_minibatches, played_by
from nashdex.trainer.checkpoint import Checkpoints
from nashdex.trainer.damping import Coefficient, SnapshotReference, resolve_damping
from nashdex.trainer.loop import LoopSettings, TrainingLoop
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import read_shards

_NO_REFERENCE = "none"


@dataclass(frozen=True)
class _Data:
    """What is learned from, and where."""

    episodes: Sequence[Episode]
    rewards: Sequence[NDArray[np.float32]]
    """By episode, (T,)."""
    device: torch.device
    seed: int
    shard: int
    checkpoints: Checkpoints


@dataclass(frozen=True)
class _Trained:
    """What training came to."""

    loop: TrainingLoop
    reference: str
    summary: dict[str, float]


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Train and store one policy: a clone of the teacher, or a best response that goes on from the plan's learner.

    Raises:
        ConfigurationError: CUDA was asked for and is not there.
        DataError: the plan, a collect shard, a checkpoint or the learner is missing, altered or of another space.
        StoppedError: the process was asked to stop; a checkpoint was saved.
    """
    if done := find_manifest(store, iteration, StepName.TRAIN, shard):
        return done
    began_seconds = time.monotonic()
    device = _prepare_torch(settings.train)
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    collected = [read_manifest(store, iteration, StepName.COLLECT, s) for s in range(settings.collect.shards)]
    attempt = Attempt(store, iteration, StepName.TRAIN, shard)
    space, recorded = read_shards(store, collected)
    episodes = played_by(recorded, plan.learner)
    game, train = game_for(settings.format), settings.train
    data = _Data(
        episodes=episodes,
        rewards=[game.rewards(train.reward, space, e.observations, e.score, train.discount) for e in episodes],
        device=device,
        seed=derive_seed(settings.seed, "train", iteration, shard),
        shard=shard,
        checkpoints=Checkpoints(store, iteration, shard, attempt.id, _fingerprint(plan, collected)),
    )
    cloning_it = plan.oracle == "clone"
    if cloning_it:
        trained = _clone(fresh_network(space, settings.network, data.seed).to(device), data, train)
    else:
        trained = _improve(load_network(store, plan.learner, space).to(device), plan.learner, data, train)
    parent = None if cloning_it else plan.learner

    policy = save_policy(
        store,
        trained.loop.network,
        name=f"clone of {plan.learner}" if cloning_it else f"best response {iteration}",
        parent=parent,
        iteration=iteration,
        oracle=plan.oracle,
        reward=train.reward,
        reward_version=game.reward_version,
    )
    result = TrainingResult(
        policy=policy,
        parent=parent,
        oracle=plan.oracle,
        preset=_NO_REFERENCE if cloning_it else train.preset,
        reference=trained.reference,
        num_updates=trained.loop.update,
        num_decisions=sum(len(e) for e in episodes),
        num_parameters=trained.loop.network.num_parameters,
        rollbacks=trained.loop.rollbacks,
        curve=trained.loop.curve.with_newest(),
        summary=trained.summary,
        seconds=time.monotonic() - began_seconds,
    )
    attempt.write(TRAINING_RESULT, result.to_json())
    manifest = attempt.finish(
        {"decisions": result.num_decisions, "updates": result.num_updates, "rollbacks": result.rollbacks}
    )
    data.checkpoints.clear()
    return manifest


def fresh_network(space: Space, settings: NetworkSettings, seed: int) -> ActorCritic:
    """Return a network whose first weights follow from ``seed`` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "weights") % 2**63)
        return ActorCritic(space, settings)


def _prepare_torch(settings: TrainSettings) -> torch.device:
    """Make training repeatable to the bit on one machine, and return where it runs."""
    if settings.device == "cuda":
        # Without this, cuBLAS may add in another order each time.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        if not torch.cuda.is_available():
            raise ConfigurationError(
                "train.device is 'cuda', and torch finds no CUDA device here; run on a machine that has one, with a "
                'CUDA build of torch, or set train.device = "cpu"'
            )
    torch.use_deterministic_algorithms(mode=True)
    torch.set_num_threads(settings.num_threads)
    return torch.device(settings.device)


def _fingerprint(plan: IterationPlan, collected: Sequence[Manifest]) -> str:
    """Return what tells one set of inputs from another: a checkpoint is for one."""
    text = "\n".join([plan.oracle, plan.learner, *(manifest.attempt for manifest in collected)])
    return hashlib.sha256(text.encode()).hexdigest()


def _loop_settings(settings: TrainSettings, learning_rate: float) -> LoopSettings:
    return LoopSettings(Coefficient(learning_rate), settings.max_gradient_norm, settings.checkpoint_every_updates)


def _clone(network: ActorCritic, data: _Data, settings: TrainSettings) -> _Trained:
    """Clone whoever acted."""
    lesson, validation = cloning.make_lessons(data.episodes, data.rewards, settings, data.seed, data.device)
    loop = TrainingLoop(network, _loop_settings(settings, settings.cloning.learning_rate), data.checkpoints)
    total = cloning.num_updates(lesson, settings)
    with Progress(StepName.TRAIN, data.shard, total, "updates", done=loop.update) as progress:
        summary = cloning.clone(loop, lesson, validation, settings, data.seed, progress)
    return _Trained(loop, _NO_REFERENCE, summary)


def _improve(network: ActorCritic, learner: PolicyId, data: _Data, settings: TrainSettings) -> _Trained:
    """Improve ``network``, which holds the learner's weights, by PPO."""
    damping = resolve_damping(settings.preset, settings.damping)
    batch = make_batch(data.episodes, data.device)
    # Both come from the loaded weights, before a checkpoint may put later ones in their place.
    targets = ppo.make_targets(network, batch, data.episodes, data.rewards, settings)
    reference = SnapshotReference(network, learner) if damping.reference == "snapshot" else None
    loop = TrainingLoop(network, _loop_settings(settings, settings.learning_rate), data.checkpoints)
    total = settings.num_epochs * num_minibatches(len(batch), settings.minibatch_decisions)
    with Progress(StepName.TRAIN, data.shard, total, "updates", done=loop.update) as progress:
        ppo.improve(loop, batch, targets, reference, damping, settings, data.seed, progress)
    summary = ppo.measure(network, batch, targets, settings.clip_range)
    if loop.check_final(summary):
        summary = ppo.measure(network, batch, targets, settings.clip_range)
    return _Trained(loop, reference.source if reference else _NO_REFERENCE, summary)
