"""The pool of snapshots: what joins and leaves, what a round meets, and what is counted."""

from collections import Counter
from dataclasses import dataclass

import pytest
import torch

from nashdex.core import keys
from nashdex.core.errors import NoObjectError, TryAgainError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.learning.rounds.rounds import SnapshotPool
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.anchors import PoolSettings
from nashdex.settings.networks import SlotsSettings
from nashdex.telemetry.progress import Progress
from support.bandit import bandit_space
from support.memory_store import MemoryStore
from support.ppo import step

LEARNER = PolicyId("newest")
EVERY = 100


@dataclass
class PooledTraining:
    """A training that takes no battles: each round ends after one optimiser step."""

    store: MemoryStore
    checkpoints: Checkpoints
    loop: Training
    pool: SnapshotPool

    def step(self) -> None:
        """Take one optimiser step, which saves a checkpoint."""
        loss = self.loop.network.values(torch.zeros(1, 3)).sum()
        with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
            step(self.loop, loss, {}, progress, Rates.both(0.01))

    def rounds(self, *num_decisions: int) -> list[str]:
        """End a round at each of these numbers of decisions; return the names of the pool."""
        for decisions in num_decisions:
            self.step()
            self.loop.begin_round(1.0, decisions)
            self.pool.add_when_due()
        return [snapshot.name for snapshot in self.loop.state.snapshots]

    def stored(self) -> list[str]:
        """Return the names of the stored snapshots."""
        names = (key.rpartition("/")[2] for key in self.store.objects)
        return sorted(name.removesuffix(".safetensors") for name in names if name.startswith("snapshot"))


def opponents(pool: SnapshotPool, seed: int) -> dict[PolicyId, ActorCritic]:
    """Return the networks that a round meets."""
    return pool.networks(pool.draw(seed))


def training(store: MemoryStore | None = None, attempt: str = "attempt", **settings: object) -> PooledTraining:
    store = store or MemoryStore()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)
        network = make_network(bandit_space(), sizes)
    checkpoints = Checkpoints(store, 1, 0, AttemptId(attempt), "fingerprint")
    loop = Training(network, StepSettings(0.5, checkpoint_every_updates=1), checkpoints)
    pool = PoolSettings.model_validate({"every_decisions": EVERY} | settings)
    return PooledTraining(store, checkpoints, loop, SnapshotPool(loop, pool))


def named(number: int) -> str:
    return f"snapshot-{number:08d}"


def weights(network: ActorCritic) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


def test_a_snapshot_joins_when_the_newest_one_is_old_enough() -> None:
    made = training()
    assert made.rounds(40, 139, 140, 200, 900, 999, 1000) == [named(1), named(3), named(5), named(7)]
    assert [snapshot.decisions for snapshot in made.loop.state.snapshots] == [40, 140, 900, 1000]


def test_a_pool_without_a_share_stays_empty() -> None:
    made = training(share=0.0)
    assert made.rounds(100, 200, 300) == []
    assert made.stored() == []


def test_the_oldest_leaves_and_its_weights_with_it_once_no_checkpoint_refers_to_them() -> None:
    made = training(size=2)
    assert made.rounds(100, 200, 300) == [named(2), named(3)]
    assert made.stored() == [named(1), named(2), named(3)], "the newest checkpoint still has the first"
    made.step()
    assert made.stored() == [named(2), named(3)]


def test_a_killed_training_finds_every_weight_that_its_checkpoint_refers_to() -> None:
    made = training(size=2)
    made.rounds(100, 200, 300)
    resumed = training(made.store, size=2)
    assert [snapshot.name for snapshot in resumed.loop.state.snapshots] == [named(1), named(2)]
    assert len(resumed.pool.networks(resumed.loop.state.snapshots)) == 2


def test_cpu_time_goes_on_from_the_last_checkpoint_within_a_round() -> None:
    made = training()
    made.loop.cpu_seconds_of_attempt = lambda: 5.0
    made.step()
    resumed = training(made.store).loop
    resumed.cpu_seconds_of_attempt = lambda: 2.0
    assert resumed.cpu_seconds == 7.0


def test_a_round_meets_different_snapshots_and_the_same_ones_by_the_same_seed() -> None:
    made = training()
    pool = set(made.rounds(100, 200, 300, 400, 500, 501))
    seen = Counter[str]()
    for seed in range(60):
        met = list(opponents(made.pool, seed))
        assert len(set(met)) == 2
        assert met == sorted(met), "an order that does not depend on the draw"
        assert met == list(opponents(made.pool, seed))
        seen.update(met)
    assert seen.keys() == pool
    assert min(seen.values()) > 12, "of 24 expected"


def test_a_small_pool_is_met_whole() -> None:
    made = training()
    assert list(opponents(made.pool, 0)) == []
    made.rounds(100, 200, 201)
    assert list(opponents(made.pool, 0)) == [named(1), named(2)]


def test_no_network_meets_itself() -> None:
    """The newest snapshot is the network of the round, until that round ends."""
    made = training()
    assert made.rounds(100, 200) == [named(1), named(2)]
    assert list(opponents(made.pool, 0)) == [named(1)]
    assert list(opponents(training().pool, 0)) == []


def test_snapshots_play_as_the_network_did() -> None:
    made = training()
    then = []
    for decisions in (100, 200):
        made.step()
        then.append(weights(made.loop.network).clone())
        made.loop.begin_round(1.0, decisions)
        made.pool.add_when_due()
    made.rounds(201)
    made.step()
    for pool in (made.pool, training(made.store).pool):
        for _ in range(2):  # from the store, then at hand
            met = [weights(network) for network in opponents(pool, 0).values()]
            assert all(torch.equal(one, other) for one, other in zip(met, then, strict=True))
    assert not torch.equal(then[0], then[1])


class MeetsAnAttempt(MemoryStore):
    """A store where an older attempt, which still runs, saves a checkpoint between two reads of a newer one."""

    def __init__(self, older: PooledTraining) -> None:
        super().__init__(older.store.objects)
        self._older = older
        self.left = 1
        """Checkpoints to save."""

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        if self.left and key.endswith(".safetensors"):
            self.left -= 1
            self._older.step()
        return super().get(key, max_bytes)


def test_a_checkpoint_that_an_older_attempt_replaces_while_it_is_read_is_read_again() -> None:
    older = training()
    older.step()
    store = MeetsAnAttempt(older)
    resumed = training(store)
    assert store.left == 0
    assert resumed.loop.state.update == 2
    (tensors,) = (key for key in store.objects if "checkpoint-" in key)
    del store.objects[tensors]
    with pytest.raises(NoObjectError):
        training(store)


def test_an_attempt_that_falls_behind_another_leaves_its_checkpoint_and_ends_where_its_snapshots_are_gone() -> None:
    older = training(size=1)
    older.rounds(100)
    older.step()
    newer = training(older.store, "newer", size=1)
    assert [snapshot.name for snapshot in newer.loop.state.snapshots] == [named(1)]
    older.rounds(200)
    older.step()
    newer.step()
    assert training(older.store).loop.state.update == older.loop.state.update == 4, "not 3"
    assert older.stored() == [named(2)]
    with pytest.raises(TryAgainError, match=r"was removed by another attempt at the shard, which is further"):
        newer.pool.networks(newer.loop.state.snapshots)
    del older.store.objects[keys.checkpoint(1, StepName.TRAIN, 0)]
    with pytest.raises(NoObjectError):
        newer.pool.networks(newer.loop.state.snapshots)
