"""The state of a training, apart from its tensors: what a checkpoint's document holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.manifest import StoredObject
from nashdex.core.results import Evaluation, TrainingPoint
from nashdex.learning.damping import ControllerState
from nashdex.learning.evaluation.ledger import EvaluationLedger, PlayedEvaluation

MAX_POINTS = 500


class Curve(Model):
    """At most ``MAX_POINTS`` points, evenly spaced: at the limit, every second one is dropped."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=False)

    points: tuple[TrainingPoint, ...] = ()
    """The evenly spaced points."""
    stride: PositiveInt = 1
    last: TrainingPoint | None = None

    @property
    def newest(self) -> Mapping[str, float]:
        """The values of the newest update; empty before the first."""
        return {} if self.last is None else self.last.values

    def add(self, update: int, values: Mapping[str, float]) -> None:
        """Record the values of ``update``."""
        self.last = TrainingPoint(update=update, values=dict(values))
        if update % self.stride == 0:
            self.points = (*self.points, self.last)
        if len(self.points) >= MAX_POINTS:
            self.stride *= 2
            self.points = tuple(point for point in self.points if point.update % self.stride == 0)

    def with_newest(self) -> tuple[TrainingPoint, ...]:
        """Return the points and the newest one, if it is not among them."""
        if self.last is None or (self.points and self.points[-1] == self.last):
            return self.points
        return (*self.points, self.last)


_WINDOW_UPDATES = 10
"""Optimiser steps that a running mean looks back: one minibatch alone is too noisy to judge."""
_MIN_GUARD_FACTOR = 1 / 64
"""The guard never makes a step smaller than this share of it, so that training goes on within a few rounds."""


class Snapshot(Model):
    """The weights of the network at the end of a round."""

    name: str = Field(description="Such as snapshot-00000012, after the round that they begin.")
    decisions: NonNegativeInt = Field(description="Decisions that they had learned from.")
    weights: StoredObject


@dataclass(frozen=True)
class RunningMean:
    """The mean of a value over the last optimiser steps of a round."""

    mean: float = 0.0
    count: int = 0
    """Number of values, at most those that the mean looks back."""

    def with_value(self, value: float) -> "RunningMean":
        """Return the mean after one more value."""
        count = min(self.count + 1, _WINDOW_UPDATES)
        return RunningMean(self.mean + (value - self.mean) / count, count)


class TrainingState(Model):
    """Progress of a training, and its measurements. It changes with every optimiser step."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=False)

    update: NonNegativeInt = Field(0, description="Optimiser steps done.")
    round: NonNegativeInt = Field(0, description="Rounds before the current one.")
    updates_before_round: NonNegativeInt = 0
    decisions_before_round: NonNegativeInt = Field(0, description="Decisions that earlier rounds learned from.")
    acting_update: NonNegativeInt = Field(0, description="Optimiser steps before the weights that played the round.")
    guard_factor: NonNegativeFloat = Field(1.0, description="The guard's factor of the step size.")
    rollbacks: NonNegativeInt = Field(0, description="Times that the guard restored the last good state.")
    good_entropy: float | None = Field(None, description="Entropy of the last good state, nats.")
    means: dict[str, RunningMean] = Field(default_factory=dict, description="Running means of this round, by value.")
    controllers: dict[str, ControllerState] = Field(
        default_factory=dict, description="Controllers by the coefficient that they move."
    )
    kept_controllers: dict[str, dict[str, ControllerState]] = Field(
        default_factory=dict, description="Controllers of kept states, by the state's name."
    )
    best_loss: float | None = Field(None, description="Least validation loss so far, where a training has one.")
    latest: dict[str, float] = Field(
        default_factory=dict, description="Values measured once a round, repeated in each point of the curve."
    )
    curve: Curve = Field(default_factory=Curve)
    snapshots: tuple[Snapshot, ...] = Field((), description="Earlier weights that the network meets as opponents.")
    met: tuple[Snapshot, ...] = Field((), description="Snapshots that the current round meets, if it was played ahead.")
    evaluated: tuple[PlayedEvaluation, ...] = Field((), description="The battles of the evaluations so far.")
    round_decisions: tuple[NonNegativeInt, ...] = Field(
        (), description="Decisions that it had learned from after each round, in a training that evaluates."
    )
    cpu_seconds: NonNegativeFloat = Field(0.0, description="CPU time of all attempts, without evaluations.")

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The learning curve so far."""
        return EvaluationLedger(evaluations=self.evaluated, round_decisions=self.round_decisions).summarised()

    @property
    def round_update(self) -> int:
        """Optimiser steps of the round so far."""
        return self.update - self.updates_before_round

    def mean(self, name: str) -> float:
        """Return the running mean of a value in this round, 0 before its first."""
        return self.means.get(name, RunningMean()).mean

    def multiplier(self, controller: str) -> float:
        """Return the factor that a controller gives its coefficient: 1 before its first judgement."""
        return self.controllers.get(controller, ControllerState()).multiplier

    def halve_guard_factor(self) -> None:
        """Halve the step size from here on, down to a bound."""
        self.guard_factor = max(self.guard_factor / 2, _MIN_GUARD_FACTOR)

    def begin_round(self, entropy: float, num_decisions: int, *, played_ahead: bool) -> None:
        """Begin the next round, with a policy of ``entropy`` nats that has learned from ``num_decisions``.

        Fresh battles are a fresh start: the guard gives back half of its reduction of the step size. With
        ``played_ahead``, this round was played with the previous round's weights.
        """
        self.acting_update = self.updates_before_round if played_ahead else self.update
        self.round += 1
        self.updates_before_round = self.update
        self.decisions_before_round = num_decisions
        self.good_entropy = entropy
        self.means = {}
        self.guard_factor = min(1.0, 2 * self.guard_factor)
