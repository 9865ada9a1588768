"""What collect and train report about themselves, for the report and for later steps."""

import json
from typing import Any, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyIdField

PolicyKind = Literal["network", "table"]
"""What a trained policy is: a network, or a table of a tabular game's action probabilities."""

COLLECT_RESULT = "result.json"
TRAINING_RESULT = "result.json"
TRAINING_METRICS = "metrics.jsonl"
"""The curve and the evaluations of a training, one JSON object a line, for tools that read tables."""


class OpponentCount(Model):
    """The learner's score against one opponent while collecting. Integers only."""

    opponent: PolicyIdField
    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt


class CollectResult(Document):
    """One shard of collected battles."""

    learner: PolicyIdField
    battles: NonNegativeInt
    decisions: NonNegativeInt = Field(description="Decisions of both seats.")
    recorded_decisions: NonNegativeInt = Field(description="Decisions of the learner: what training sees.")
    opponents: tuple[OpponentCount, ...]
    failures: dict[str, NonNegativeInt] = Field(description="Failed tries by cause; each was replayed.")
    rejected_choices: NonNegativeInt
    seconds: NonNegativeFloat
    cpu_seconds: NonNegativeFloat = Field(description="CPU time of all processes, user and system.")
    versions: dict[str, str] = Field(default_factory=dict, description="Versions of what played the battles, by name.")


class TrainingPoint(Model):
    """What one optimiser step measured."""

    update: NonNegativeInt
    values: dict[str, float] = Field(
        description="Values by name, such as entropy. Each oracle documents the names of what it measures."
    )


class HeldOut(Model):
    """A score over battles that had no part in a choice."""

    score: float = Field(ge=0, le=1)
    low: float = Field(description="95 % interval from the scores of side-swapped pairs.")
    high: float
    battles: NonNegativeInt


class Evaluation(Model):
    """The trained network's score against one anchor, at one moment of its training."""

    decisions: NonNegativeInt = Field(description="Decisions that the network had learned from.")
    cpu_seconds: NonNegativeFloat = Field(
        description="CPU time of all processes of this training so far, without evaluations."
    )
    anchor: str = Field(
        description="A scripted policy; `start` for the policy that training began from, `first` for the run's "
        "first policy, `opponents` for the mixture that training answers."
    )
    style: str = Field(description="How the network plays: sampled or greedy.")
    score: float = Field(ge=0, le=1, description="Mean over the battles: 1 a win, ½ a draw.")
    low: float = Field(description="95 % interval from the scores of side-swapped pairs.")
    high: float
    battles: NonNegativeInt
    draws: NonNegativeInt
    selection_score: float | None = Field(
        None, ge=0, le=1, description="Over the even pairs, which the best weights are chosen by."
    )
    held_out: HeldOut | None = Field(None, description="Over the odd pairs.")


class Measured(Model):
    """What an oracle measures of one training.

    A new measured value is one field here, or one name in ``summary`` or the curve, with its meaning in the oracle's
    ``metrics``: the oracle sets it, and the train step's result and the report carry it. A value that accumulates over
    optimiser steps is a field of ``learning.updates.state``, so that checkpoints hold it.
    """

    preset: str | None = Field(None, description="Damping preset, if the oracle has any.")
    reference: str = Field(
        "none",
        description="Where the KL reference came from: none, uniform, or a kind and its policies, such as "
        "snapshot:POLICY.",
    )
    num_updates: NonNegativeInt = Field(0, description="Optimiser steps.")
    num_run_updates: NonNegativeInt = Field(0, description="Optimiser steps in the run up to here, along this shard.")
    num_decisions: NonNegativeInt = Field(0, description="Decisions that it learned from.")
    num_run_decisions: NonNegativeInt = Field(
        0, description="Decisions in the run up to here, along this shard: the clock of schedules."
    )
    rollbacks: NonNegativeInt = Field(0, description="Times the instability guard restored a checkpoint.")
    summary: dict[str, float] = Field(description="Final values, such as validation_accuracy.")
    evaluations: tuple[Evaluation, ...] = Field((), description="Strength against fixed anchors during training.")
    scripted_opponents: dict[PolicyIdField, NonNegativeFloat] = Field(
        default_factory=dict,
        description="Shares of the learner's battles with itself in which scripted policies sat opposite.",
    )
    kept: Evaluation | None = Field(
        None,
        description="The evaluation of the weights that were kept as the best; null where the last ones were kept. "
        "Its `held_out` is their score.",
    )
    cpu_seconds: NonNegativeFloat = Field(
        0.0, description="CPU time of all processes that trained and played for it, without evaluations."
    )

    def measured(self) -> dict[str, Any]:
        """Return the values by name, for another model that has them."""
        return {name: getattr(self, name) for name in Measured.model_fields}


class TrainedPolicy(Measured):
    """One trained policy, as the train step's result and the report both describe it."""

    policy: PolicyIdField
    kind: PolicyKind
    name: str = Field(description="For people, such as 'best response 3'.")
    parent: PolicyIdField | None = Field(description="Policy whose weights training began from.")
    oracle: str = Field(description="The oracle that trained it, such as ppo.")
    magnet: PolicyIdField | None = Field(
        None,
        description='Moving average of the weights that training was held to (`damping.reference = "ema"`): a policy '
        "of the run's store that is no member.",
    )
    num_parameters: NonNegativeInt
    seconds: NonNegativeFloat


class TrainingResult(TrainedPolicy, Document):
    """One trained policy: the result of a train shard."""

    curve: tuple[TrainingPoint, ...] = Field(description="At most 500 points, evenly spaced, the last included.")

    def metrics(self) -> bytes:
        """Return the curve, then the evaluations, one JSON object a line: the object ``TRAINING_METRICS``."""
        points = [{"update": point.update, **point.values} for point in self.curve]
        evaluations = [one.model_dump(mode="json", exclude_none=True) for one in self.evaluations]
        return "".join(f"{json.dumps(line)}\n" for line in (*points, *evaluations)).encode()
