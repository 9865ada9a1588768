"""What each round of a training learns from: the collected battles first, then battles of its own.

In lock-step, a round is played with the weights that it begins with, and learner and actors take turns. Played ahead,
it is played with the weights that the round before began with, while that one is learned from: the network that learns
is one version ahead of the one that acted. In a stream, actors play all the time with the newest weights, and a round
learns from what is there. Where the weights differ, the advantage estimator corrects for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.learning.rounds.planned import NEWEST
from nashdex.learning.rounds.players import RoundProgress, Rounds, StalenessBounds
from nashdex.learning.rounds.snapshots import SnapshotPool
from nashdex.learning.updates.checkpoint import Snapshot
from nashdex.learning.updates.loop import ACTING_UPDATE, TrainingLoop
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics
from nashdex.trajectory.episode import Episode


@dataclass(frozen=True)
class PlayedRound:
    """The battles of one round."""

    episodes: Sequence[Episode]
    learner: PolicyId
    """The name of the network in training, in these episodes."""
    behaviour: ActorCritic
    """The network as the round begins."""
    acting: ActorCritic | None
    """The network that played: ``behaviour`` itself in lock-step; None for collected battles, and for those of a
    stream, which several versions played: then the recorded probabilities count."""


class Feed:
    """Gives a training its rounds: in lock-step, ahead or in a stream. Its draws follow from the loop's state."""

    def __init__(
        self,
        training: TrainingLoop,
        battles: Rounds,
        pool: SnapshotPool,
        first: PlayedRound,
        seed: int,
        *,
        plays_ahead: bool = False,
        stream: StalenessBounds | None = None,
    ) -> None:
        self._training = training
        self._battles = battles
        self._pool = pool
        self._first: PlayedRound | None = first
        self._start = first.behaviour
        self._seed = seed
        self._plays_ahead = plays_ahead
        self._stream = stream
        self._update_of_version: dict[int, int] = {}
        """Optimiser steps before each version of a stream that this process began."""
        self._ahead: tuple[Snapshot, ...] = ()
        """Snapshots that the next round meets, where rounds are played ahead."""

    def play(self) -> PlayedRound:
        """Return the battles of the loop's round. Raises what ``Rounds.play`` does."""
        number = self._training.round
        staleness_versions = int(self._plays_ahead and number > 0)
        metrics.STALENESS_VERSIONS.set(staleness_versions)
        if number == 0:
            first, self._first = self._first, None  # so that its memory is free when it has been learned from
            assert first is not None, "a training has one first round"
            return first
        behaviour = self._training.network_of_round()
        if self._stream is not None:
            return self._streamed(number, behaviour, self._stream)
        acting, met = behaviour, self._training.met
        if self._plays_ahead:
            acting = self._training.network_that_acted() or self._start
        else:
            met = self._draw(number)
        episodes = self._battles.play(number, acting, self._pool.networks(met), staleness_versions)
        return PlayedRound(episodes, NEWEST, behaviour, acting)

    def _streamed(self, number: int, behaviour: ActorCritic, bounds: StalenessBounds) -> PlayedRound:
        training = self._training
        progress = RoundProgress(is_at_begin=training.round_update == 0, saved_round=training.saved_round)
        self._update_of_version[number] = training.update - training.round_update
        snapshots = self._pool.networks(self._draw(number))
        episodes, versions = self._battles.stream(number, behaviour, snapshots, bounds, progress)
        metrics.STALENESS_VERSIONS.set(number - sum(versions) / len(versions))
        oldest = min(versions)
        training.marks[ACTING_UPDATE] = self._update_of_version.get(oldest, self._update_of_version[number])
        self._update_of_version = {n: update for n, update in self._update_of_version.items() if n >= oldest}
        return PlayedRound(episodes, NEWEST, behaviour, None)

    def ask_for_next(self, behaviour: ActorCritic) -> None:
        """Have the next round played meanwhile, by ``behaviour``, if rounds are played ahead or in a stream."""
        if self._stream is not None and self._training.round == 0:
            self._update_of_version[0] = 0
            self._battles.offer(0, behaviour, self._pool.networks(()), self._stream)
        if self._plays_ahead:
            number = self._training.round + 1
            self._ahead = self._draw(number)
            self._battles.ask(number, behaviour, self._pool.networks(self._ahead))

    def begin(self, number: int, entropy: float, num_decisions: int) -> None:
        """Begin round ``number`` with the loop's current weights."""
        self._training.begin_round(number, entropy, num_decisions, played_ahead=self._plays_ahead)
        self._pool.meet(self._ahead)

    def _draw(self, number: int) -> tuple[Snapshot, ...]:
        return self._pool.draw(derive_seed(self._seed, "pool", number))
