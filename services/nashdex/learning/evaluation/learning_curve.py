"""The learning curve of a training: when to evaluate, where scores are reported, and which weights were the best."""

from collections.abc import Sequence
from typing import Final

import structlog

from nashdex.core.ids import PolicyId
from nashdex.core.results import Evaluation
from nashdex.learning.evaluation.halves import best
from nashdex.learning.rounds.players import Networks, Rounds
from nashdex.learning.settings import EvaluationSettings, anchor_after
from nashdex.learning.trackers.tracking import Trackers
from nashdex.learning.updates.loop import TrainingLoop
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics

_log = structlog.get_logger()

_BEST: Final = "best"
"""Under this name the loop keeps the best evaluated weights."""


class LearningCurve:
    """Evaluates the network in training. The loop holds the evaluations, so that checkpoints keep them."""

    def __init__(
        self,
        training: TrainingLoop,
        battles: Rounds,
        anchors: Networks,
        settings: EvaluationSettings,
        trackers: Trackers,
        *,
        keeps_best: bool,
    ) -> None:
        self._training = training
        self._battles = battles
        self._anchors = anchors
        self._settings = settings
        self._trackers = trackers
        self._keeps_best = keeps_best
        _set_gauges(training.evaluations)

    def begin(self) -> None:
        """Evaluate what training begins from, unless an earlier attempt did."""
        if self._settings.every_decisions and not self._training.evaluations:
            self._evaluate(0, 0, 0.0)

    def after_round(self, num_decisions: int, *, is_last: bool) -> None:
        """Evaluate if it is due, after a round at whose end the training has learned from ``num_decisions``.

        Also keeps the network if it becomes an anchor of later evaluations.
        """
        if self._settings.is_due(self._training.num_decisions, num_decisions, is_last=is_last):
            found = self._evaluate(self._training.round + 1, num_decisions, self._training.cpu_seconds)
            if self._keeps_best and best(self._training.evaluations) in found:
                self._training.keep(_BEST)
        for decisions in self._settings.anchors_after_decisions:
            if self._training.num_decisions < decisions <= num_decisions:
                self._training.keep_network(anchor_after(decisions))

    def restore_best(self) -> Evaluation | None:
        """Return to the best evaluated weights, if those are to be kept; return their evaluation."""
        kept = best(self._training.evaluations) if self._keeps_best else None
        if kept is not None:
            self._training.restore(_BEST)
            _log.info(f"kept the weights after {kept.decisions:,} decisions, the best on the even pairs of battles")
        return kept

    def _evaluate(self, num_rounds: int, decisions: int, cpu_seconds: float) -> tuple[Evaluation, ...]:
        found = self._battles.evaluate(
            num_rounds,
            self._training.network,
            {**self._anchors, **self._earlier_selves()},
            self._settings,
            decisions=decisions,
            cpu_seconds=cpu_seconds,
        )
        self._training.evaluations += found
        for one in found:
            _log.info(
                f"after {decisions:,} decisions, {one.style} against {one.anchor}: "
                f"{one.score:.3f} [{one.low:.3f}, {one.high:.3f}] in {one.battles:,} battles",
                cpu_minutes=round(cpu_seconds / 60, 1),
            )
        _set_gauges(found)
        self._trackers.record_evaluations(found)
        return found

    def _earlier_selves(self) -> dict[PolicyId, ActorCritic]:
        """Return the networks that became anchors so far, by name."""
        names = map(anchor_after, self._settings.anchors_after_decisions)
        return {name: self._training.kept_network(name) for name in names if self._training.has_kept(name)}


def _set_gauges(evaluations: Sequence[Evaluation]) -> None:
    """Set the gauges of each anchor and style to its last one among ``evaluations``."""
    for one in evaluations:
        for bound, value in (("value", one.score), ("low", one.low), ("high", one.high)):
            metrics.EVALUATION_SCORE.set(value, anchor=one.anchor, style=one.style, bound=bound)
