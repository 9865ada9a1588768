"""The battles that each round of a training learns from, and the weights that played them.

In lock-step: learner and actors take turns, and actors play a round with the learner's weights. Played ahead: while the
learner trains on a round, the weights from the start of that round play the next one.
In a stream: actors always play, with the newest weights, and a round learns from the battles at hand. The advantage
estimator corrects for differences of the weights.

A network that meets only its newest self forgets how to beat its earlier selves. A share of snapshots, its earlier
weights, as opponents keeps it from going in circles (Heinrich & Silver 2016).
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.learning.rounds.planned import NEWEST, RoundBattles
from nashdex.learning.rounds.players import Player, StreamPosition, WantedRound
from nashdex.learning.updates.checkpoint import SNAPSHOT
from nashdex.learning.updates.state import Snapshot
from nashdex.learning.updates.training import Training
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.anchors import PoolSettings
from nashdex.telemetry import metrics
from nashdex.trajectory.episode import Episode

_SNAPSHOTS_A_ROUND: Final = 2
"""Snapshots among a round's opponents. Each one needs inference batches of its own."""


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
        size = min(_SNAPSHOTS_A_ROUND, len(kept))
        # `p` selects numpy's algorithm, and so the draws of a seed, although all probabilities are equal.
        uniform = np.full(len(kept), 1.0 / len(kept))
        drawn = np.random.default_rng(seed).choice(len(kept), size, replace=False, p=uniform)
        return tuple(kept[index] for index in sorted(drawn))

    def meet(self, met: tuple[Snapshot, ...]) -> None:
        """Keep the snapshots that the current round meets, even if they leave the pool."""
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

    def _network(self, snapshot: Snapshot) -> ActorCritic:
        """Return the snapshot's network. The networks of the last call of ``networks`` are cached."""
        if network := self._networks.get(snapshot.name):
            return network
        network = copy.deepcopy(self._training.network)
        network.load_state_dict(self._training.checkpoints.weights(snapshot.weights))
        return network


@dataclass(frozen=True)
class RoundsSettings:
    """Settings that all rounds of a training share."""

    seed: int
    """Root of the battles' seeds."""
    num_battles: int
    """Battles of a round."""
    deadline_seconds: float
    pool: PoolSettings
    records_opponents: bool
    """Whether every opponent's seat is recorded too."""
    plays_ahead: bool = False
    stream: StreamPosition | None = None
    """The bounds of a stream; None if rounds are played in turn or ahead."""


@dataclass(frozen=True)
class PlayedRound:
    """The battles of one round, in which the network in training is called ``NEWEST``."""

    episodes: Sequence[Episode]
    round_start: ActorCritic
    """The network as the round begins."""
    acting: ActorCritic | None
    """The network that played: ``round_start`` itself in lock-step; None if several versions played, in a stream. Then
    the recorded probabilities count."""


class Rounds:
    """Gives a training its rounds: in lock-step, ahead or in a stream. Its draws follow from the training's state.

    A round's battles follow from the seed, the round and the weights that play it, so an interrupted round is repeated
    to the bit, wherever it is played.
    """

    def __init__(
        self, training: Training, player: Player, pool: SnapshotPool, settings: RoundsSettings, plan: IterationPlan
    ) -> None:
        self._training = training
        self._player = player
        self._pool = pool
        self._settings = settings
        self._opponents = _opponents(plan)
        self._update_of_version: dict[int, int] = {}
        """Optimiser steps before each version of a stream that this process began."""
        self._ahead: tuple[Snapshot, ...] = ()
        """Snapshots that the next round meets, where rounds are played ahead."""

    def play(self) -> PlayedRound:
        """Return the battles of the training's round; have the next one played meanwhile, if it is played ahead.

        Raises what ``Player.play`` does.
        """
        state, settings = self._training.state, self._settings
        round_start = self._training.network_of_round()
        if settings.stream is not None:
            return self._streamed(round_start, settings.stream)
        acting, met = round_start, state.met
        if settings.plays_ahead:
            acting = self._training.network_that_acted()
        else:
            met = self._draw(state.round)
        staleness_versions = int(settings.plays_ahead and state.round > 0)
        metrics.STALENESS_VERSIONS.set(staleness_versions)
        episodes = self._player.play(self._wanted(state.round, acting, met, staleness_versions)).episodes
        return PlayedRound(episodes, round_start, acting)

    def ask_for_next(self, round_start: ActorCritic) -> None:
        """Have the next round played meanwhile by ``round_start``, if rounds are played ahead."""
        if self._settings.plays_ahead:
            number = self._training.state.round + 1
            self._ahead = self._draw(number)
            self._player.ask(self._wanted(number, round_start, self._ahead))

    def after(self) -> None:
        """Keep the snapshots that the next round meets, once that round has begun, and add one that is due."""
        self._pool.meet(self._ahead)
        self._pool.add_when_due()

    def _streamed(self, round_start: ActorCritic, bounds: StreamPosition) -> PlayedRound:
        training, state = self._training, self._training.state
        position = StreamPosition(
            bounds.max_staleness_versions,
            saved_round=training.saved_round,
            is_overtaken=training.checkpoints.is_overtaken,
        )
        number = state.round
        self._update_of_version[number] = state.updates_before_round
        played = self._player.play(self._wanted(number, round_start, self._draw(number), stream=position))
        metrics.STALENESS_VERSIONS.set(number - sum(played.versions) / len(played.versions))
        oldest = min(played.versions)
        state.acting_update = self._update_of_version.get(oldest, state.updates_before_round)
        self._update_of_version = {n: update for n, update in self._update_of_version.items() if n >= oldest}
        return PlayedRound(played.episodes, round_start, None)

    def _wanted(
        self,
        number: int,
        network: ActorCritic,
        met: tuple[Snapshot, ...],
        staleness_versions: int = 0,
        stream: StreamPosition | None = None,
    ) -> WantedRound:
        """Return round ``number`` of ``network`` against the plan's opponents.

        Where the opponent is the network itself, one of ``met`` sits opposite in a share of the battles and a scripted
        policy in another, and in the rest both seats are recorded.
        """
        settings, snapshots = self._settings, self._pool.networks(met)
        battles = RoundBattles(
            round=number,
            seed=derive_seed(settings.seed, number),
            num_battles=settings.num_battles,
            opponents=self._opponents,
            snapshots=tuple(snapshots),
            snapshot_share=settings.pool.share,
            scripted=tuple(settings.pool.anchors.shares()),
            scripted_share=settings.pool.anchors.share,
            records_opponents=settings.records_opponents,
            deadline_seconds=settings.deadline_seconds,
        )
        return WantedRound(
            battles,
            {NEWEST: network, **snapshots},
            staleness_versions,
            stream,
            is_at_begin=self._training.state.round_update == 0,
        )

    def _draw(self, number: int) -> tuple[Snapshot, ...]:
        return self._pool.draw(derive_seed(self._settings.seed, "pool", number))


def _opponents(plan: IterationPlan) -> dict[PolicyId, float]:
    """Return the mixture. Where the rule pairs the learner with itself, that is its newest self."""
    opponents = dict(plan.opponents)
    if plan.learns_from_both_seats(plan.learner) and plan.learner in opponents:
        opponents[NEWEST] = opponents.pop(plan.learner)
    return opponents
