"""PPO on rounds that a test made itself, without a run around it."""

from collections.abc import Mapping

from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.games.tabular.game import TabularGame
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.learning.experience.batching import Batch
from nashdex.learning.references import SnapshotReference
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import Training
from nashdex.oracles.ppo.loss import Targets
from nashdex.oracles.ppo.training import Ppo
from nashdex.settings.ppo import PpoSettings
from nashdex.telemetry.progress import Progress

_LEARNER = PolicyId("p1")


def learn(
    training: Training,
    batch: Batch,
    targets: Targets,
    settings: PpoSettings,
    progress: Progress,
    *,
    seed: int = 0,
    length: int | None = None,
) -> None:
    """Learn from a round of a training of ``length`` decisions: by default of this round alone."""
    settings = settings.model_copy(update={"decisions": length or len(batch)})
    game = TabularGame(openspiel_tree("kuhn_poker"))  # nothing is played
    ppo = Ppo(training, settings, SnapshotReference(training.network, _LEARNER), game, seed=seed)
    ppo.learn(batch, targets, progress)


def step(training: Training, loss: Tensor, measured: Mapping[str, float], progress: Progress, rates: Rates) -> None:
    """Take one optimiser step with the whole of its loss."""
    one = training.begin_step()
    one.backward(loss, measured)
    training.take(one, rates, progress)
