"""What a network learns from in an iteration: the collected battles, on the device that trains."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.ids import AttemptId, is_replayed
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.space import Space
from nashdex.learning.experience.batching import played_by
from nashdex.learning.rewards import REWARDS
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import NetworkSettings
from nashdex.store.attempt import read_manifest
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import read_shards


@dataclass(frozen=True)
class Data:
    """The learner's episodes of an iteration, and the checkpoints of training on them."""

    game: Game
    space: Space
    episodes: Sequence[Episode]
    checkpoints: Checkpoints

    @property
    def num_decisions(self) -> int:
        """Decisions in all episodes."""
        return sum(len(episode) for episode in self.episodes)

    def rewards(self, episodes: Sequence[Episode], reward: str, discount: float) -> list[NDArray[np.float32]]:
        """Return the rewards of each of ``episodes``, (T,)."""
        return [REWARDS[reward].compute(self.space, e.observations, e.score, discount) for e in episodes]


def collected_battles(
    store: ObjectStore, game: Game, plan: IterationPlan, *, num_shards: int, shard: int, attempt: AttemptId
) -> Data:
    """Return the episodes of an iteration's ``num_shards`` collect shards, for a shard of the train step.

    Raises:
        DataError: a collect shard is missing or altered, or another policy than the plan's learner acted.
    """
    manifests = [read_manifest(store, plan.iteration, StepName.COLLECT, number) for number in range(num_shards)]
    space, recorded = read_shards(store, manifests)
    replayed = [episode for episode in recorded if is_replayed(episode.policy) and len(episode)]
    own = [episode for episode in recorded if not is_replayed(episode.policy)]
    return Data(
        game=game,
        space=space,
        episodes=[*(played_by(own, plan.learner) if own or not replayed else ()), *replayed],
        checkpoints=checkpoints_of(store, plan, shard, attempt, [manifest.attempt for manifest in manifests]),
    )


def checkpoints_of(
    store: ObjectStore,
    plan: IterationPlan,
    shard: int,
    attempt: AttemptId,
    inputs: Sequence[str] = (),
    *,
    saves: bool = True,
) -> Checkpoints:
    """Return the checkpoints of a train shard, which belong to one oracle, one learner and one set of ``inputs``."""
    fingerprint = hashlib.sha256("\n".join([plan.oracle, plan.learner, *inputs]).encode()).hexdigest()
    return Checkpoints(store, plan.iteration, shard, attempt, fingerprint, saves=saves)


def fresh_network(space: Space, settings: NetworkSettings, seed: int) -> ActorCritic:
    """Return a network whose first weights follow from ``seed`` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "weights") % 2**63)
        return make_network(space, settings)


def prepare_torch(device: str, num_threads: int, rank: int = 0) -> torch.device:
    """Make training repeatable to the bit on one machine, and return where process ``rank`` of it runs.

    ``check_machine`` says whether it can run there.
    """
    if device == "cuda":
        # Without this, cuBLAS may add in another order each time.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(mode=True)
    # By default that also fills every new tensor, lest it be read before it is written: a seventh of a training step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_num_threads(num_threads)
    return torch.device("cuda", rank) if device == "cuda" else torch.device(device)
