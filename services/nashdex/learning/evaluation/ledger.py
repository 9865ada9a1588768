"""The ledger of a training's evaluations: the result of every battle, from which the learning curve follows.

Equal battles at each evaluation make a learning curve smoother than its intervals. Neither training nor any later
evaluation plays these battles. One half of them chooses the best weights, the other scores what was chosen: the best of
many scores is too high by its luck, and the other half's luck had no part in the choice.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.results import Evaluation, HeldOut
from nashdex.learning.rounds.planned import EvaluationBattles
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


EVALUATION_LEDGER: Final = "evaluations.json"
"""The ledger's name beside the training's result."""

_DRAW = 0.5


class PlayedEvaluation(Model):
    """The battles of one evaluation, and how they ended."""

    decisions: NonNegativeInt = Field(description="Decisions that the network had learned from.")
    cpu_seconds: NonNegativeFloat = Field(description="CPU time of the training so far, without evaluations.")
    battles: EvaluationBattles = Field(description="What was played: seeds, teams and seats follow from it.")
    scores: str = Field(
        description="The network's score of each battle, by number through all matches, separated by spaces."
    )

    @classmethod
    def of(
        cls, battles: EvaluationBattles, scores: Sequence[float], *, decisions: int, cpu_seconds: float
    ) -> "PlayedEvaluation":
        """Return the evaluation whose battles have these ``scores`` of the network, by number, each in [0, 1]."""
        # A string has 2 bytes a battle, a list of a checkpoint's JSON 13.
        text = " ".join(repr(score).removesuffix(".0") for score in scores)
        return cls(decisions=decisions, cpu_seconds=cpu_seconds, battles=battles, scores=text)

    @model_validator(mode="after")
    def _has_every_battle(self) -> "PlayedEvaluation":
        scores = self._scores()
        if len(scores) != self.battles.size:
            raise ValueError(f"{len(scores)} scores of {self.battles.size} battles; expected one each")
        if not all(0.0 <= score <= 1.0 for score in scores):
            raise ValueError("a score is outside [0, 1]")
        return self

    def _scores(self) -> list[float]:
        return [float(score) for score in self.scores.split()]

    def summarised(self) -> tuple[Evaluation, ...]:
        """Return the strength of the network in each match. A match has at least two pairs of battles."""
        each, scores, found = self.battles.battles_each, self._scores(), []
        for index, (style, anchor) in enumerate(self.battles.matches):
            own = scores[index * each : (index + 1) * each]
            low, high = clustered_wilson_interval(own, [number // 2 for number in range(each)])
            found.append(
                Evaluation(
                    decisions=self.decisions,
                    cpu_seconds=self.cpu_seconds,
                    anchor=anchor,
                    style=style,
                    score=sum(own) / each,
                    low=low,
                    high=high,
                    battles=each,
                    draws=own.count(_DRAW),
                    selection_score=selection_score(own),
                    held_out=held_out(own),
                )
            )
        return tuple(found)


class EvaluationLedger(Document):
    """All evaluations of one training, in order."""

    evaluations: tuple[PlayedEvaluation, ...]
    round_decisions: tuple[NonNegativeInt, ...] = Field(
        description="Decisions that the network had learned from after each round: which evaluations were due follows "
        "from them."
    )

    def summarised(self) -> tuple[Evaluation, ...]:
        """Return the learning curve."""
        return tuple(one for played in self.evaluations for one in played.summarised())
