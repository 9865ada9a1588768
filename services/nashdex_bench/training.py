"""The PPO training that benchmarks measure: as a training step has it, on one CPU thread or one GPU."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch

from nashdex.core.ids import AttemptId
from nashdex.core.steps import StepName
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.references import SnapshotReference
from nashdex.learning.rounds.planned import NEWEST
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.ppo.training import Ppo
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.settings.ppo import PpoSettings
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

Device = Literal["cpu", "cuda"]

_CHECKPOINT_EVERY_UPDATES = 50


def seconds(device: str) -> float:
    """Return a clock in seconds: this process's CPU time, or wall time once the GPU has computed everything."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


@dataclass
class BenchTraining:
    """A training that learns from the rounds it is given. Its checkpoints are in a temporary folder."""

    ppo: Ppo
    seconds_by_part: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds of all rounds so far, by ``seconds``: the batch, the values and advantages, epochs, measurements."""

    @property
    def network(self) -> ActorCritic:
        """The network in training."""
        return self.ppo.training.network

    @property
    def device(self) -> str:
        """The type of device that it runs on."""
        return self.ppo.training.device.type

    def learn(self, episodes: Sequence[Episode]) -> int:
        """Learn from a round: batch, targets, epochs, and the measurements at its end. Return its decisions."""
        ppo, state = self.ppo, self.ppo.training.state
        with self._timed("batch"):
            experience = ppo.experience(episodes)
            batch = experience.batch
        with self._timed("values"):
            targets = ppo.targets(self.network, experience)
        num_updates = ppo.settings.num_epochs * batch.num_minibatches(ppo.settings.step_decisions)
        with (
            self._timed("epochs"),
            Progress(StepName.TRAIN, 0, state.update + num_updates, "updates", done=state.update) as progress,
        ):
            ppo.learn(batch, targets, progress)
        with self._timed("measurements"):
            ppo.begin_round(ppo.judged(batch, targets), state.decisions_before_round + len(batch))
        return len(batch)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        began = seconds(self.device)
        yield
        self.seconds_by_part[part] += seconds(self.device) - began


@contextmanager
def open_training(game: ShowdownGame, network: ActorCritic, settings: PpoSettings) -> Iterator[BenchTraining]:
    """Open a training that begins with ``network``, and removes its checkpoints at the end."""
    with TemporaryDirectory() as folder:
        checkpoints = Checkpoints(open_store(str(Path(folder))), 0, 0, AttemptId("bench"), "bench")
        steps = StepSettings(
            settings.max_gradient_norm,
            _CHECKPOINT_EVERY_UPDATES,
            graphed_rows=settings.lone_minibatch_decisions(num_processes=1),
        )
        training = Training(network, steps, checkpoints)
        yield BenchTraining(Ppo(training, settings, SnapshotReference(network, NEWEST), game))


def self_play(game: ShowdownGame) -> Iterator[Assignment]:
    """Yield battles of the learner with itself, without end."""
    return PairedBattles(0, game.teams()).self_play(NEWEST)
