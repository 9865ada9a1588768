"""Networks by gradient descent: a clone of the teacher, and from there PPO."""

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.games.space import Space
from nashdex.games.tabular.game import TabularGame
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.archive import load_network, save_policy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.settings import NetworkSettings
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trainer import cloning, ppo
from nashdex.trainer.batch import make_batch, num_minibatches, played_by
from nashdex.trainer.checkpoint import Checkpoints
from nashdex.trainer.damping import Coefficient, resolve_damping
from nashdex.trainer.loop import LoopSettings, TrainingLoop
from nashdex.trainer.outcome import finish
from nashdex.trainer.references import SnapshotReference, make_reference
from nashdex.trainer.rounds import Rounds
from nashdex.trainer.settings import TrainSettings
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import read_shards

_NO_REFERENCE = "none"


@dataclass(frozen=True)
class _Data:
    """What is learned from, and where."""

    game: Game
    space: Space
    episodes: Sequence[Episode]
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
    num_decisions: int
    num_updates_before: int = 0
    """Optimiser steps of PPO that the run has taken before these."""


def train(store: ObjectStore, settings: RunSettings, plan: IterationPlan, shard: int) -> Manifest:
    """Train and store one network: a clone of the teacher, or a best response that goes on from the plan's learner.

    Raises:
        ConfigurationError: CUDA was asked for and is not there, or damping contradicts itself.
        DataError: a collect shard, a checkpoint or the learner is missing, altered or of another space.
        TryAgainError: a battle of a further round could not be finished.
        StoppedError: the process was asked to stop; a checkpoint was saved.
    """
    began_seconds = time.monotonic()
    iteration, training = plan.iteration, settings.train
    device = _prepare_torch(training)
    collected = [read_manifest(store, iteration, StepName.COLLECT, s) for s in range(settings.collect.shards)]
    attempt = Attempt(store, iteration, StepName.TRAIN, shard)
    space, recorded = read_shards(store, collected)
    data = _Data(
        game=game_of_run(store, settings),
        space=space,
        episodes=played_by(recorded, plan.learner),
        device=device,
        seed=derive_seed(settings.seed, "train", iteration, shard),
        shard=shard,
        checkpoints=Checkpoints(store, iteration, shard, attempt.id, _fingerprint(plan, collected)),
    )
    cloning_it = plan.oracle == "clone"
    trained = _clone(data, settings) if cloning_it else _improve(store, settings, plan, data)
    parent = None if cloning_it else plan.learner

    policy = save_policy(
        store,
        trained.loop.network,
        name=f"clone of {plan.learner}" if cloning_it else f"best response {iteration}",
        parent=parent,
        iteration=iteration,
        oracle=plan.oracle,
        reward=training.reward,
        reward_version=data.game.reward_version,
        tree=data.game.tree if isinstance(data.game, TabularGame) else None,
    )
    result = TrainingResult(
        policy=policy,
        parent=parent,
        oracle=plan.oracle,
        preset=_NO_REFERENCE if cloning_it else training.preset,
        reference=trained.reference,
        num_updates=trained.loop.update,
        num_run_updates=trained.num_updates_before + (0 if cloning_it else trained.loop.update),
        num_decisions=trained.num_decisions,
        num_parameters=trained.loop.network.num_parameters,
        rollbacks=trained.loop.rollbacks,
        curve=trained.loop.curve.with_newest(),
        summary=trained.summary,
        seconds=time.monotonic() - began_seconds,
    )
    manifest = finish(attempt, result)
    data.checkpoints.clear()
    return manifest


def fresh_network(space: Space, settings: NetworkSettings, seed: int) -> ActorCritic:
    """Return a network whose first weights follow from ``seed`` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "weights") % 2**63)
        return make_network(space, settings)


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


def _rewards(data: _Data, episodes: Sequence[Episode], settings: TrainSettings) -> list[NDArray[np.float32]]:
    """Return the rewards of each episode, (T,)."""
    return [
        data.game.rewards(settings.reward, data.space, e.observations, e.score, settings.discount) for e in episodes
    ]


def _clone(data: _Data, settings: RunSettings) -> _Trained:
    """Clone whoever acted."""
    training = settings.train
    network = fresh_network(data.space, settings.network, data.seed).to(data.device)
    rewards = _rewards(data, data.episodes, training)
    lesson, validation = cloning.make_lessons(data.episodes, rewards, training, data.seed, data.device)
    rate = Coefficient(training.cloning.learning_rate)
    loop = TrainingLoop(
        network, LoopSettings(rate, training.max_gradient_norm, training.checkpoint_every_updates), data.checkpoints
    )
    total = cloning.num_updates(lesson, training)
    with Progress(StepName.TRAIN, data.shard, total, "updates", done=loop.update) as progress:
        summary = cloning.clone(loop, lesson, validation, training, data.seed, progress)
    return _Trained(loop, _NO_REFERENCE, summary, sum(len(e) for e in data.episodes))


def _improve(store: ObjectStore, settings: RunSettings, plan: IterationPlan, data: _Data) -> _Trained:
    """Improve the plan's learner by PPO, in as many rounds as the settings say."""
    training = settings.train
    damping = resolve_damping(training)
    network = load_network(store, plan.learner, data.space).to(data.device)
    # Both come from the loaded weights, before a checkpoint may put later ones in their place.
    start = SnapshotReference(network, plan.learner)
    reference = make_reference(store, plan, damping, network, start)
    before = _updates_before(store, plan, data.shard)
    loop = TrainingLoop(
        network,
        LoopSettings(
            damping.learning_rate(training.learning_rate),
            training.max_gradient_norm,
            training.checkpoint_every_updates,
            before if damping.clock == "run" else 0,
        ),
        data.checkpoints,
        reference=reference,
    )
    num_decisions, summary = sum(len(e) for e in data.episodes), dict[str, float]()
    total = training.rounds * _updates_of_round(num_decisions, training)
    with (
        Rounds(store, settings, data.game, plan, data.shard) as rounds,
        Progress(StepName.TRAIN, data.shard, total, "updates", done=loop.update) as progress,
    ):
        for number in range(loop.round, training.rounds):
            if number > loop.round:
                loop.begin_round(number, summary["entropy"], num_decisions)
            behaviour = loop.network_of_round() if number else start.network
            episodes = rounds.play(number, behaviour) if number else data.episodes
            batch = make_batch(episodes, data.device)
            rewards = _rewards(data, episodes, training)
            targets = ppo.make_targets(behaviour, batch, episodes, rewards, training, start if number else None)
            num_left = (training.rounds - number) * _updates_of_round(len(batch), training)
            progress.expect(loop.update - loop.round_update + num_left)
            ppo.improve(loop, batch, targets, reference, damping, training, data.seed, progress)
            summary = ppo.measure(network, batch, targets, training.clip_range)
            if loop.check_final(summary):
                summary = ppo.measure(network, batch, targets, training.clip_range)
            num_decisions = loop.num_decisions + len(batch)
    return _Trained(loop, reference.source if reference else _NO_REFERENCE, summary, num_decisions, before)


def _updates_of_round(num_decisions: int, settings: TrainSettings) -> int:
    return settings.num_epochs * num_minibatches(num_decisions, settings.minibatch_decisions)


def _updates_before(store: ObjectStore, plan: IterationPlan, shard: int) -> int:
    """Return how many optimiser steps of PPO the run has taken before this iteration, along this shard."""
    if plan.iteration == 0:
        return 0
    manifest = find_manifest(store, plan.iteration - 1, StepName.TRAIN, shard)
    return read_written(store, manifest, TRAINING_RESULT, TrainingResult).num_run_updates if manifest else 0
