"""PPO."""

from typing import Literal

from pydantic import Field

from nashdex.core.section import Choice, Section, Share
from nashdex.settings.advantages import AdvantagesChoice, GaeSettings
from nashdex.settings.anchors import EvaluationSettings, PoolSettings
from nashdex.settings.damping import DampingSettings


class Annealing(Section):
    """Final shares of the initial values, after a linear fall over the training; 1 for a constant."""

    learning_rate: Share = Field(0.0, description="Final share of both learning rates.")
    entropy: Share = Field(1.0, description="Final share of the entropy bonus.")


class PpoSettings(Choice):
    """Proximal policy optimisation of a network, under damping."""

    kind: Literal["ppo"] = "ppo"
    start: Literal["newest", "clone"] = Field(
        "newest",
        description="Initial weights of an iteration: the newest network's, or always the first iteration's, "
        "because a nearly deterministic network may not find another response.",
    )
    decisions: int = Field(
        300_000,
        ge=1,
        le=10**12,
        description="Length of a training: decisions to learn from. Rounds of battles with the newest weights "
        "continue until there are this many decisions, for one round at least.",
    )
    round_battles: int = Field(600, ge=2, le=10_000_000, description="Battles of a round.")
    overlap_rounds: int = Field(
        0,
        ge=0,
        le=1,
        description="Rounds played ahead. 0: playing and learning alternate; the newest weights play each round. "
        "1: while the learner trains on a round, the weights from the start of that round play the next one; "
        "needs `v-trace`.",
    )
    max_staleness_versions: int = Field(
        0,
        ge=0,
        le=1000,
        description="Bound of a stream of battles: the largest age of the weights that played them, in rounds. Actors "
        "play all the time, with the newest weights; older chunks are dropped, and actors that would exceed the bound "
        "wait. 0: no stream; `overlap_rounds` decides.",
    )
    num_epochs: int = Field(4, ge=1, le=1000, description="Passes over the decisions of a round.")
    minibatch_decisions: int = Field(
        1024, ge=1, description="Decisions of a minibatch: memory on the device grows with them."
    )
    accumulate: int = Field(
        1, ge=1, le=10_000, description="Minibatches an optimiser step; their gradients are added up."
    )
    learning_rate: float = Field(6e-4, gt=0, le=1, description="Adam's step size for the actor.")
    critic_learning_rate: float | None = Field(
        None, gt=0, le=1, description="Adam's step size for the critic; by default the actor's."
    )
    annealing: Annealing = Field(Annealing(), description="Values that fall linearly over the training.")
    clip_range: float = Field(0.2, gt=0, le=1, description="ε, the largest distance of a ratio from 1.")
    critic_warmup_decisions: int = Field(
        0,
        ge=0,
        description="In rounds that begin before this many decisions, the critic alone learns, but not in the last "
        "round, nor if the critic continues from the previous iteration.",
    )
    advantages: AdvantagesChoice = Field(
        default_factory=GaeSettings, description="The advantage estimator, and its own settings below it."
    )
    max_gradient_norm: float = Field(
        1.0, gt=0, description="Bound of the global norm of the actor's and of the critic's gradient."
    )
    pool: PoolSettings = Field(PoolSettings(), description="Snapshots of the network in training, as opponents.")
    evaluation: EvaluationSettings = Field(EvaluationSettings(), description="The learning curve.")
    keep: Literal["last", "best"] = Field(
        "last",
        description="Weights of the new policy: the last ones, or the best evaluated ones. The best are chosen on "
        "the even pairs of battles against the first anchor in the first style, and scored on the odd ones.",
    )
    damping: DampingSettings = Field(
        default_factory=DampingSettings, description="A damping preset, and overrides of its values."
    )

    @property
    def step_decisions(self) -> int:
        """Decisions an optimiser step, at most."""
        return self.minibatch_decisions * self.accumulate

    def lone_minibatch_decisions(self, num_processes: int) -> int:
        """Return the most decisions of a minibatch if each process has just one in each optimiser step; else 0."""
        return self.minibatch_decisions if self.accumulate == num_processes else 0
