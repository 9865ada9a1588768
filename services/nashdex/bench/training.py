"""The PPO training that benchmarks measure: as a training step has it, on one CPU thread."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.references import SnapshotReference
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.clock import Clock
from nashdex.learning.updates.loop import LoopSettings, TrainingLoop
from nashdex.oracles.ppo.round_learner import RoundLearner
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

POLICY = PolicyId("bench")
"""The learner, which plays both seats."""
_CHECKPOINT_EVERY_UPDATES = 50
_DISCOUNT = 1.0


@dataclass
class BenchTraining:
    """A training that learns from the rounds it is given. Its checkpoints are in a temporary folder."""

    game: ShowdownGame
    loop: TrainingLoop
    start: SnapshotReference
    settings: PpoSettings
    policy: PolicyId = POLICY
    """The learner's name in episodes."""

    def learn(self, episodes: Sequence[Episode]) -> int:
        """Learn from a round: batch, targets, epochs, and the measurements at its end. Return its decisions."""
        loop, settings = self.loop, self.settings
        learner = RoundLearner(loop, self.start, None, settings, Clock(settings.decisions), self.game)
        seen = learner.experience(episodes, self.policy)
        targets = learner.targets(seen, loop.network)
        num_decisions = loop.num_decisions + len(seen.batch)
        num_updates = settings.num_epochs * seen.batch.num_minibatches(settings.minibatch_decisions)
        with Progress(StepName.TRAIN, 0, loop.update + num_updates, "updates", done=loop.update) as progress:
            summary = learner.learn(seen, targets, progress, is_last=False)
        loop.begin_round(loop.round + 1, summary["entropy"], num_decisions)
        return len(seen.batch)


@contextmanager
def open_training(
    game: ShowdownGame, network: ActorCritic, settings: PpoSettings, policy: PolicyId = POLICY
) -> Iterator[BenchTraining]:
    """Open a training that begins with ``network``, and removes its checkpoints at the end."""
    with TemporaryDirectory() as folder:
        checkpoints = Checkpoints(open_store(str(Path(folder))), 0, 0, AttemptId("bench"), "bench")
        loop = TrainingLoop(network, LoopSettings(settings.max_gradient_norm, _CHECKPOINT_EVERY_UPDATES), checkpoints)
        yield BenchTraining(game, loop, SnapshotReference(network, policy), settings, policy)


def self_play(game: ShowdownGame) -> Iterator[Assignment]:
    """Yield battles of the learner with itself, without end."""
    return PairedBattles(0, game.teams(), deadline_seconds=300.0).self_play(POLICY)
