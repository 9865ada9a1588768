"""Evaluation during training: side-swapped battles against fixed anchors, the same battles each time.

Equal battles at each evaluation make a learning curve smoother than its intervals. They are other battles than those of
training and of any later evaluation.
"""

from collections.abc import Sequence

from nashdex.core.results import Evaluation
from nashdex.learning.evaluation.halves import held_out, selection_score
from nashdex.learning.rounds.planned import EvaluationBattles
from nashdex.metagame.evidence.estimates import clustered_wilson_interval

_DRAW = 0.5


def summarise(
    battles: EvaluationBattles, scores: Sequence[float], *, decisions: int, cpu_seconds: float
) -> tuple[Evaluation, ...]:
    """Return the strength of the network in each match, from the score of each battle.

    Args:
        battles: what was played.
        scores: the network's score of each battle, by number.
        decisions: that the network had learned from.
        cpu_seconds: of the training so far.
    """
    found = []
    for index, (style, anchor) in enumerate(battles.matches):
        own = scores[index * battles.battles_each : (index + 1) * battles.battles_each]
        low, high = clustered_wilson_interval(own, [number // 2 for number in range(len(own))])
        found.append(
            Evaluation(
                decisions=decisions,
                cpu_seconds=cpu_seconds,
                anchor=anchor,
                style=style,
                score=sum(own) / len(own),
                low=low,
                high=high,
                battles=len(own),
                draws=list(own).count(_DRAW),
                selection_score=selection_score(own),
                held_out=held_out(own),
            )
        )
    return tuple(found)
