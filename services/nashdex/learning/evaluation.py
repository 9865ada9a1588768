"""Evaluation during training: side-swapped battles against fixed anchors, the same battles each time.

Equal battles at each evaluation make a learning curve smoother than its intervals. They are other battles than those of
training and of any later evaluation.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from nashdex.core.ids import PolicyId
from nashdex.core.results import Evaluation
from nashdex.learning.halves import held_out, selection_score
from nashdex.learning.settings import EvaluationSettings, Style
from nashdex.metagame.evidence.estimates import clustered_wilson_interval
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.interface import Policy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session

_IDS: Final[Mapping[Style, PolicyId]] = {"sampled": PolicyId("evaluated"), "greedy": PolicyId("evaluated@greedy")}
_ANCHOR = PolicyId("anchor")
_DRAW = 0.5


def evaluate_strength(
    session: Session,
    network: ActorCritic,
    anchors: Mapping[str, Policy],
    battles: PairedBattles,
    settings: EvaluationSettings,
    *,
    decisions: int,
    cpu_seconds: float,
) -> tuple[Evaluation, ...]:
    """Play ``network`` against each of ``anchors`` in each style.

    Raises:
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop.
    """
    found = []
    for style in settings.styles:
        evaluated = _IDS[style]
        session.policies[evaluated] = NetworkPolicy(evaluated, network)
        for name, anchor in anchors.items():
            session.policies[_ANCHOR] = anchor
            scores = _scores(session, battles, evaluated, settings.battles)
            low, high = clustered_wilson_interval(scores, [number // 2 for number in range(len(scores))])
            found.append(
                Evaluation(
                    decisions=decisions,
                    cpu_seconds=cpu_seconds,
                    anchor=name,
                    style=style,
                    score=sum(scores) / len(scores),
                    low=low,
                    high=high,
                    battles=len(scores),
                    draws=scores.count(_DRAW),
                    selection_score=selection_score(scores),
                    held_out=held_out(scores),
                )
            )
        del session.policies[evaluated]
    del session.policies[_ANCHOR]
    return tuple(found)


def _scores(session: Session, battles: PairedBattles, evaluated: PolicyId, num_battles: int) -> list[float]:
    """Return the network's score of each battle, in the order of their numbers."""

    def assignments() -> Iterator[Assignment]:
        for number in range(num_battles):
            yield battles.assignment(number, (evaluated, _ANCHOR))

    scores = [0.0] * num_battles
    for finished in session.play(assignments()):
        scores[finished.assignment.number] = require_finished(finished).score(finished.assignment.first_seat)
    return scores
