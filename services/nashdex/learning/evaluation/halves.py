"""Two halves of an evaluation's battles: one to choose the best weights by, the other to score what was chosen.

The best of many scores is too high by its luck. The other half's luck had no part in the choice.
"""

from collections.abc import Iterable, Sequence

from nashdex.core.results import Evaluation, HeldOut
from nashdex.metagame.evidence.estimates import clustered_wilson_interval


def selection_score(scores: Sequence[float]) -> float:
    """Return the mean of ``scores`` over the even pairs; ``scores`` are by number, battles 2p and 2p + 1 a pair."""
    chosen_by = [score for number, score in enumerate(scores) if number // 2 % 2 == 0]
    return sum(chosen_by) / len(chosen_by)


def held_out(scores: Sequence[float]) -> HeldOut:
    """Return the score over the odd pairs, with its 95 % interval by pairs."""
    rest = [(number // 2, score) for number, score in enumerate(scores) if number // 2 % 2]
    pairs, kept = zip(*rest, strict=True)
    low, high = clustered_wilson_interval(kept, pairs)
    return HeldOut(score=sum(kept) / len(kept), low=low, high=high, battles=len(kept))


def best(evaluations: Iterable[Evaluation]) -> Evaluation | None:
    """Return the evaluation with the best weights, by the even pairs against the first anchor in the first style.

    The weights that training began from do not count; of equals the earliest is the best. None without any.
    """
    found = list(evaluations)
    first = [one for one in found if (one.anchor, one.style) == (found[0].anchor, found[0].style)]
    scored = [(one.selection_score, one) for one in first if one.decisions > 0 and one.selection_score is not None]
    return max(scored, key=lambda pair: pair[0])[1] if scored else None
