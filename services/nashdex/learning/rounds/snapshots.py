"""The pool of snapshots: earlier weights of the network in training, as opponents beside its newest self.

A network that meets only its newest self forgets how to beat its earlier selves. A share of older opponents keeps it
from going in circles (Heinrich & Silver 2016); prioritised sampling prefers those that still win (Vinyals et al. 2019).
"""

import copy
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.learning.rounds.planned import NEWEST
from nashdex.learning.updates.checkpoint import SNAPSHOT
from nashdex.learning.updates.state import Snapshot
from nashdex.learning.updates.training import Training
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.anchors import PoolSettings
from nashdex.trajectory.episode import Episode


class SnapshotPool:
    """The snapshots of one training. The training's state names them, so checkpoints keep them."""

    def __init__(self, training: Training, settings: PoolSettings) -> None:
        self._training = training
        self._settings = settings
        self._networks: dict[str, ActorCritic] = {}

    def add_when_due(self) -> None:
        """Add the network as it is when a round begins, if the last snapshot is old enough."""
        kept, num_decisions = self._training.state.snapshots, self._training.state.decisions_before_round
        if self._settings.share == 0:
            return
        if kept and num_decisions - kept[-1].decisions < self._settings.every_decisions:
            return
        name = f"{SNAPSHOT}{self._training.state.round:08d}"
        weights = self._training.checkpoints.keep_weights(name, self._training.network.state_dict())
        kept = (*kept, Snapshot(name=name, decisions=num_decisions, weights=weights))
        self._training.state.snapshots = kept[-self._settings.size :]
        self._forget(kept)

    def draw(self, seed: int) -> tuple[Snapshot, ...]:
        """Return the snapshots that a round meets, drawn without replacement: none equals the network that plays it."""
        kept = [
            one for one in self._training.state.snapshots if one.decisions < self._training.state.decisions_before_round
        ]
        if not kept:
            return ()
        size = min(self._settings.opponents_a_round, len(kept))
        drawn = np.random.default_rng(seed).choice(len(kept), size, replace=False, p=self._probabilities(kept))
        return tuple(kept[index] for index in sorted(drawn))

    def meet(self, met: tuple[Snapshot, ...]) -> None:
        """Keep the weights of snapshots that the current round meets, whatever leaves the pool."""
        before, self._training.state.met = self._training.state.met, met
        self._forget(before)

    def _forget(self, snapshots: Iterable[Snapshot]) -> None:
        """Remove the weights of those ``snapshots`` that nothing needs any more."""
        needed = {one.name for one in (*self._training.state.snapshots, *self._training.state.met)}
        for snapshot in snapshots:
            if snapshot.name not in needed:
                self._training.checkpoints.forget(snapshot.weights)

    def networks(self, snapshots: Iterable[Snapshot]) -> dict[PolicyId, ActorCritic]:
        """Return the networks of ``snapshots`` by name.

        Raises:
            DataError: weights are missing or altered.
        """
        self._networks = {snapshot.name: self._network(snapshot) for snapshot in snapshots}
        return {PolicyId(name): network for name, network in self._networks.items()}

    def record(self, episodes: Iterable[Episode]) -> None:
        """Count the network's scores against snapshots in a round's ``episodes``."""
        scores: dict[str, list[float]] = {}
        for episode in episodes:
            if episode.policy == NEWEST:
                scores.setdefault(episode.opponent, []).append(episode.score)
        self._training.state.snapshots = tuple(_with_scores(one, scores) for one in self._training.state.snapshots)

    def _probabilities(self, snapshots: Sequence[Snapshot]) -> NDArray[np.float64]:
        """Return the probability of each snapshot to be drawn first: prioritised in its share, or else uniform."""
        # Count two drawn battles more, so that a snapshot without battles counts as equally strong.
        rates = np.array([(one.score + 1) / (one.battles + 2) for one in snapshots])
        prioritised = (1 - rates) ** 2
        share = self._settings.prioritised_share
        mixed: NDArray[np.float64] = share * prioritised / prioritised.sum() + (1 - share) / len(snapshots)
        return mixed

    def _network(self, snapshot: Snapshot) -> ActorCritic:
        """Return the snapshot's network. The networks of the last call of ``networks`` are cached."""
        if network := self._networks.get(snapshot.name):
            return network
        network = copy.deepcopy(self._training.network)
        network.load_state_dict(self._training.checkpoints.tensors(snapshot.weights))
        return network


def _with_scores(snapshot: Snapshot, scores: Mapping[str, list[float]]) -> Snapshot:
    met = scores.get(snapshot.name, [])
    return snapshot.model_copy(update={"battles": snapshot.battles + len(met), "score": snapshot.score + sum(met)})
