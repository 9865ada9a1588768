"""How many decisions training learns from in a second of CPU time, when it plays the battles itself."""

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pydantic import Field, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.batching import CPU, num_minibatches
from nashdex.learning.checkpoint import Checkpoints
from nashdex.learning.clock import Clock
from nashdex.learning.data import fresh_network, prepare_torch
from nashdex.learning.experience import gather
from nashdex.learning.loop import LoopSettings, TrainingLoop
from nashdex.learning.references import SnapshotReference
from nashdex.oracles.ppo.loss import make_targets, measure
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.oracles.ppo.training import PROBE_DECISIONS, improve
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.settings import NetworkSettings
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

_POLICY = PolicyId("bench")
_CHECKPOINT_EVERY_UPDATES = 50
_DISCOUNT = 1.0


class LoopRound(Model):
    """One round. Times are CPU time of all processes, user and system, per decision."""

    num_decisions: PositiveInt
    collect_microseconds: PositiveFloat = Field(description="Playing: this process and the gateway.")
    train_microseconds: PositiveFloat = Field(description="Advantages, epochs, measurements and checkpoints.")


class LoopBenchResult(Model):
    """Medians over the rounds. The round before the first, in which Node compiles, does not count."""

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
    with _loop(game, network, settings) as loop:
        loop.round()
        measured = [loop.round() for _ in range(rounds)]
        num_parameters = loop.training.network.num_parameters
    totals = [one.collect_microseconds + one.train_microseconds for one in measured]
    shares = [one.collect_microseconds / total for one, total in zip(measured, totals, strict=True)]
    return LoopBenchResult(
        format=game.format,
        network=network.kind,
        num_parameters=num_parameters,
        round_battles=settings.round_battles,
        num_epochs=settings.num_epochs,
        minibatch_decisions=settings.minibatch_decisions,
        decisions_per_cpu_second=1e6 / median(totals),
        collect_share=median(shares),
        train_share=1 - median(shares),
        rounds=tuple(measured),
    )


@dataclass
class _Loop:
    """A training that goes on from round to round."""

    game: ShowdownGame
    session: Session
    battles: Iterator[Assignment]
    training: TrainingLoop
    start: SnapshotReference
    settings: PpoSettings

    def round(self) -> LoopRound:
        """Play a round and learn from it."""
        before = self._cpu_seconds()
        episodes = self._play()
        played = self._cpu_seconds()
        num_decisions = self._learn(episodes)
        return LoopRound(
            num_decisions=num_decisions,
            collect_microseconds=1e6 * (played - before) / num_decisions,
            train_microseconds=1e6 * (self._cpu_seconds() - played) / num_decisions,
        )

    def _cpu_seconds(self) -> float:
        return time.process_time() + self.session.arena.cpu_seconds()

    def _play(self) -> list[Episode]:
        self.session.policies[_POLICY] = NetworkPolicy(_POLICY, copy.deepcopy(self.training.network))
        episodes: list[Episode] = []
        for battle in self.session.play(islice(self.battles, self.settings.round_battles)):
            require_finished(battle)
            episodes += battle.episodes
        return episodes

    def _learn(self, episodes: list[Episode]) -> int:
        training, settings = self.training, self.settings
        network = training.network
        predicts = settings.prediction_coefficient > 0 and network.predicts_opponent
        seen = gather(
            episodes, _POLICY, self.game, network.space, "win-loss", _DISCOUNT, CPU, predicts_opponent=predicts
        )
        targets = make_targets(network, seen, settings, _DISCOUNT)
        num_decisions = training.num_decisions + len(seen.batch)
        num_updates = settings.num_epochs * num_minibatches(len(seen.batch), settings.minibatch_decisions)
        with Progress(StepName.TRAIN, 0, training.update + num_updates, "updates", done=training.update) as progress:
            improve(training, seen.batch, targets, None, settings, Clock(num_decisions), 0, progress)
        summary = measure(network, self.start, seen.batch, targets, slice(PROBE_DECISIONS), settings.clip_range)
        training.begin_round(training.round + 1, summary["entropy"], num_decisions, 0.0)
        return len(seen.batch)


@contextmanager
def _loop(game: ShowdownGame, settings: NetworkSettings, ppo: PpoSettings) -> Iterator[_Loop]:
    with (
        TemporaryDirectory() as folder,
        Session(game.open_arena(num_gateways=1), BATTLES_PER_GATEWAY) as session,
    ):
        network = fresh_network(session.space, settings, seed=0)
        training = TrainingLoop(
            network,
            LoopSettings(ppo.max_gradient_norm, _CHECKPOINT_EVERY_UPDATES),
            Checkpoints(open_store(str(Path(folder))), 0, 0, AttemptId("bench"), "bench"),
        )
        battles = PairedBattles(0, game.teams(), deadline_seconds=300.0).self_play(_POLICY)
        yield _Loop(game, session, battles, training, SnapshotReference(network, _POLICY), ppo)
