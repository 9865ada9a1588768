"""PPO as an oracle."""

from typing import TYPE_CHECKING

from nashdex.core.lazy import LazyModule
from nashdex.oracles.interface import Oracle, Task, Trained
from nashdex.oracles.ppo.exploiter import exploiter
from nashdex.oracles.ppo.fit import problems
from nashdex.oracles.ppo.settings import PpoSettings

if TYPE_CHECKING:
    from nashdex.oracles.ppo import training
else:  # it imports torch, which training alone needs
    training = LazyModule("nashdex.oracles.ppo.training")


def train(task: Task, settings: PpoSettings) -> Trained:
    """Improve the plan's learner."""
    return training.train(task, settings)


PPO = Oracle(
    settings=PpoSettings,
    summary="improves a network against the opponents by PPO; the first iteration trains it by `train.first`",
    train=train,
    makes="network",
    plays="learner",
    plays_on=lambda settings: settings.decisions > 0,
    improves=True,
    shares_steps=True,
    problems=problems,
    learner=lambda settings: "newest" if settings.start == "newest" else "first",
    exploiter=exploiter,
    metrics={
        "policy_loss": "clipped surrogate loss of the actor",
        "value_loss": "mean squared error of the critic",
        "entropy": "entropy of the policy over decisions with a choice, nats",
        "entropy_at_start": "the same at the start of the iteration, nats",
        "kl_behaviour": "KL from the policy that played the round, nats",
        "kl_reference": "KL from the reference, nats",
        "kl_iteration_start": "KL from the policy at the start of the iteration, nats",
        "beta_reference": "coefficient of the reference KL",
        "beta_multiplier": "the part of it that the controller sets",
        "entropy_coefficient": "coefficient of the entropy bonus",
        "prediction_loss": "cross-entropy of what the opponent chose, nats",
        "clip_fraction": "share of decisions whose ratio is clipped",
        "importance_ratio_mean": "mean of π(action) over the probability with which it was played, with `v-trace`",
        "importance_ratio_max": "the largest of these ratios",
        "effective_sample_share": "effective sample size under these ratios, as a share of the decisions",
        "grouped_share": "share of decisions that a group gives an advantage to, with `group-relative`",
        "explained_variance": "share of the variance of returns that the critic explains",
        "gradient_norm": "global norm of the gradient before it is scaled down",
        "learning_rate": "step size of the optimiser",
    },
)
