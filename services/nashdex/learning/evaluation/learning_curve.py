"""The learning curve of a training: when to evaluate, where scores are reported, and which weights were the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, Evaluation, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.evaluation.ledger import EVALUATION_LEDGER, EvaluationLedger, PlayedEvaluation, best
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles
from nashdex.learning.rounds.players import Networks, Player
from nashdex.learning.trackers import Trackers
from nashdex.learning.updates.training import Training
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.archive import load_network
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.anchors import FIRST, OPPONENTS, START, EvaluationSettings
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics

_log = structlog.get_logger()

_BEST: Final = "best"
"""Under this name the training keeps the best evaluated weights."""


@dataclass(frozen=True)
class EvaluationPlan:
    """Settings that all evaluations of a training share."""

    settings: EvaluationSettings
    seed: int
    """Root of the battles' seeds."""
    deadline_seconds: float
    opponents: dict[PolicyId, float]
    """The mixture that the anchor ``opponents`` means."""
    keeps_best: bool
    """Whether the best evaluated weights become the policy."""


class LearningCurve:
    """Evaluates the network in training. The training's state holds the evaluations, so checkpoints keep them."""

    def __init__(
        self, training: Training, player: Player, anchors: Networks, plan: EvaluationPlan, trackers: Trackers
    ) -> None:
        """``anchors`` are those that are networks of this run, by name."""
        self._training = training
        self._player = player
        self._anchors = anchors
        self._plan = plan
        self._settings = plan.settings
        self._trackers = trackers
        _set_gauges(training.state.evaluations)

    def begin(self) -> None:
        """Evaluate the network that training begins from, unless an earlier attempt did."""
        if self._settings.every_decisions and not self._training.state.evaluated:
            self._evaluate(0, 0, 0.0)

    def after_round(self, num_decisions: int, *, is_last: bool) -> None:
        """Evaluate if an evaluation is due after ``num_decisions``, at the end of a round.

        Also keeps the network if it becomes an anchor of later evaluations.
        """
        state = self._training.state
        if self._settings.every_decisions:
            state.round_decisions += (num_decisions,)
        if self._settings.is_due(state.decisions_before_round, num_decisions, is_last=is_last):
            found = self._evaluate(state.round + 1, num_decisions, self._training.cpu_seconds)
            if self._plan.keeps_best and best(state.evaluations) in found:
                self._training.keep(_BEST)
        for name, decisions in self._settings.later_anchors.items():
            if state.decisions_before_round < decisions <= num_decisions:
                self._training.keep_network(name)

    def restore_best(self) -> Evaluation | None:
        """Return to the best evaluated weights, if those are to be kept; return their evaluation."""
        kept = best(self._training.state.evaluations) if self._plan.keeps_best else None
        if kept is not None:
            self._training.restore(_BEST)
            _log.info(f"kept the weights after {kept.decisions:,} decisions, the best on the even pairs of battles")
        return kept

    def objects(self) -> Mapping[str, bytes]:
        """Return the ledger of the evaluations, to be stored beside the policy; nothing if there were none."""
        state = self._training.state
        ledger = EvaluationLedger(evaluations=state.evaluated, round_decisions=state.round_decisions)
        return {EVALUATION_LEDGER: ledger.to_json()} if state.evaluated else {}

    def _evaluate(self, num_rounds: int, decisions: int, cpu_seconds: float) -> tuple[Evaluation, ...]:
        settings = self._settings
        earlier_selves = filter(self._training.has_kept, settings.later_anchors)
        anchors = {**self._anchors, **{name: self._training.kept_network(name) for name in earlier_selves}}
        names = [name for name in settings.anchors if name in anchors or name not in settings.later_anchors]
        battles = EvaluationBattles(
            round=num_rounds,
            seed=self._plan.seed,
            battles_each=settings.battles,
            matches=tuple((style, PolicyId(anchor)) for style in settings.styles for anchor in names),
            opponents=self._plan.opponents if OPPONENTS in settings.anchors else {},
            deadline_seconds=self._plan.deadline_seconds,
        )
        scores = self._player.scores(battles, {NEWEST: self._training.network, **anchors})
        played = PlayedEvaluation.of(battles, scores, decisions=decisions, cpu_seconds=cpu_seconds)
        self._training.state.evaluated += (played,)
        found = played.summarised()
        for one in found:
            _log.info(
                f"after {decisions:,} decisions, {one.style} against {one.anchor}: "
                f"{one.score:.3f} [{one.low:.3f}, {one.high:.3f}] in {one.battles:,} battles",
                cpu_minutes=round(cpu_seconds / 60, 1),
            )
        _set_gauges(found)
        self._trackers.record_evaluations(found)
        return found


def _set_gauges(evaluations: Sequence[Evaluation]) -> None:
    """Set the gauges of each anchor and style to its last one among ``evaluations``."""
    for one in evaluations:
        for bound, value in (("value", one.score), ("low", one.low), ("high", one.high)):
            metrics.EVALUATION_SCORE.set(value, anchor=one.anchor, style=one.style, bound=bound)


def anchor_networks(
    store: ObjectStore, plan: IterationPlan, shard: int, settings: EvaluationSettings, start: ActorCritic
) -> dict[PolicyId, ActorCritic]:
    """Return the networks of the anchors ``start`` (given) and ``first``, by these names.

    Raises:
        DataError: the first iteration's policy is missing, altered, or of another space.
    """
    networks = {}
    if settings.every_decisions and START in settings.anchors:
        networks[PolicyId(START)] = start
    if settings.every_decisions and FIRST in settings.anchors:
        networks[PolicyId(FIRST)] = start
        if plan.iteration > 0:
            manifest = read_manifest(store, 0, StepName.TRAIN, shard)
            first = BarePolicyId(read_written(store, manifest, TRAINING_RESULT, TrainingResult).policy)
            networks[PolicyId(FIRST)] = load_network(store, first, start.space)
    return networks
