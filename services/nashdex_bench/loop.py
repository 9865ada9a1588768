"""How many decisions training learns from in a second of CPU time, when it plays the battles itself."""

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median

from pydantic import Field, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.games.registry import showdown_game
from nashdex.learning.experience.data import fresh_network, prepare_torch
from nashdex.learning.rounds.planned import NEWEST
from nashdex.policies.inference import NetworkPolicy
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.settings.networks import NetworkSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.trajectory.episode import Episode
from nashdex_bench.training import BenchTraining, open_training, self_play


class LoopRound(Model):
    """One round. Times are CPU time of all processes, user and system, per decision."""

    num_decisions: PositiveInt
    collect_microseconds: PositiveFloat = Field(description="Playing: this process and the gateway.")
    train_microseconds: PositiveFloat = Field(description="Advantages, epochs, measurements and checkpoints.")


class LoopBenchResult(Model):
    """Medians over the rounds, without a warm-up round, in which Node compiles."""

    format: str
    network: str = Field(description="Kind of network.")
    num_parameters: PositiveInt
    round_battles: PositiveInt
    num_epochs: PositiveInt
    minibatch_decisions: PositiveInt
    decisions_per_cpu_second: PositiveFloat = Field(
        description="Decisions of the learner, both seats, that were played and learned from."
    )
    collect_share: PositiveFloat = Field(description="Share of the CPU time that plays.")
    train_share: PositiveFloat = Field(description="Share of the CPU time that learns.")
    rounds: tuple[LoopRound, ...]


def run_loop_bench(
    format_id: str, network: NetworkSettings, settings: PpoSettings, *, rounds: int = 3
) -> LoopBenchResult:
    """Play rounds of battles by a network with itself, and learn from each, as a training does on one thread.

    Raises:
        ConfigurationError: it is not a Showdown format, the network does not fit it, or Node or the gateway's package
            is missing.
        TryAgainError: a battle could not be finished.
    """
    prepare_torch("cpu", 1)
    game = showdown_game(format_id)
    with Session(game.open_arena(num_gateways=1), BATTLES_PER_GATEWAY) as session:
        start = fresh_network(session.space, network, seed=0)
        with open_training(game, start, settings) as training:
            loop = _Rounds(session, self_play(game), training)
            loop.measure()
            measured = [loop.measure() for _ in range(rounds)]
    totals = [one.collect_microseconds + one.train_microseconds for one in measured]
    shares = [one.collect_microseconds / total for one, total in zip(measured, totals, strict=True)]
    return LoopBenchResult(
        format=game.format,
        network=network.kind,
        num_parameters=start.num_parameters,
        round_battles=settings.round_battles,
        num_epochs=settings.num_epochs,
        minibatch_decisions=settings.minibatch_decisions,
        decisions_per_cpu_second=1e6 / median(totals),
        collect_share=median(shares),
        train_share=1 - median(shares),
        rounds=tuple(measured),
    )


def lines(result: LoopBenchResult) -> Iterator[str]:
    """Yield the result as text."""
    for one in result.rounds:
        yield (
            f"{one.num_decisions:,} decisions: {one.collect_microseconds:.0f} µs of CPU each in playing, "
            f"{one.train_microseconds:.0f} in learning"
        )
    yield (
        f"{result.network}, {result.num_parameters:,} parameters: {result.decisions_per_cpu_second:,.0f} decisions per "
        f"CPU-second, playing {result.collect_share:.0%} and learning {result.train_share:.0%}"
    )


@dataclass
class _Rounds:
    """Rounds of one training, each played by the network that the round before left."""

    session: Session
    battles: Iterator[Assignment]
    training: BenchTraining

    def measure(self) -> LoopRound:
        """Play a round and learn from it."""
        before = self._cpu_seconds()
        episodes = self._play()
        played = self._cpu_seconds()
        num_decisions = self.training.learn(episodes)
        return LoopRound(
            num_decisions=num_decisions,
            collect_microseconds=1e6 * (played - before) / num_decisions,
            train_microseconds=1e6 * (self._cpu_seconds() - played) / num_decisions,
        )

    def _cpu_seconds(self) -> float:
        return time.process_time() + self.session.cpu_seconds()

    def _play(self) -> list[Episode]:
        self.session.policies[NEWEST] = NetworkPolicy(NEWEST, copy.deepcopy(self.training.network))
        episodes: list[Episode] = []
        for battle in self.session.play(islice(self.battles, self.training.ppo.settings.round_battles)):
            require_finished(battle)
            episodes += battle.episodes
        return episodes
