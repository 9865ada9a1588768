"""Which new policies join the population: the gate's result for each, the rule that follows from it, and its test.

The test is a sequential probability ratio test of one policy against another.

H0: the expected score is at most ``elo_low``'s. H1: it is at least ``elo_high``'s. After every
look (a side-swapped pair of battles, as a rule) the test accepts, rejects or goes on; looking often costs nothing.

Each hypothesis has its own evidence *against* it, a product of one factor a look, linear in the look's mean score x:

    against H0:  1 + (1 − (q₁/q₀)ᵐ) (x − p₀) / p₀        against H1:  1 + (1 − (p₀/p₁)ᵐ) (p₁ − x) / q₁

with p the two expected scores, q = 1 − p and m battles a look. Where m = 1 and there are no draws these are the
likelihood ratio and its inverse, and the test is Wald's (1945). In general they are bets on the mean of a bounded
variable (Waudby-Smith and Ramdas 2024): a factor's expectation is at most 1 while its hypothesis holds, *whatever*
the distribution of x in [0, 1] is. Draws, half a win each, need no model of how often they come, and the two battles
of a pair, which share their teams and are not independent, no model of how they go together. So by Ville's inequality
(1939) evidence of 1/α against a true H0 comes up with probability at most α, however often one looks and whenever one
stops, and 1/β against a true H1 with at most β. These bounds are exact, where Wald's A ≈ (1 − β)/α is an
approximation for the battle that oversteps it. What is assumed: scores of different looks do not change the next
look's mean; two policies that stay the same, on teams drawn afresh, keep to that.

m only sets the stake. It is the best one for battles that are independent, and right, if not best, for others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Literal

from pydantic import Field, NonNegativeInt

from nashdex.core.documents import Document
from nashdex.core.ids import PolicyIdField
from nashdex.core.results import TrainingResult
from nashdex.metagame.ratings.ladder import score_of_elo

GATE_RESULT = "result.json"
"""The name of a gate's result among its attempt's objects."""

GateDecision = Literal["accept", "reject", "undecided", "exempt"]
"""Only a rejected policy stays out. ``undecided``: the battles ran out first. ``exempt``: it has no parent to beat."""


class GateResult(Document):
    """The result of one new policy's test against its parent. Its battles are in no ledger: they chose a policy."""

    policy: PolicyIdField
    parent: PolicyIdField | None = Field(description="The opponent; none for a clone.")
    decision: GateDecision
    wins: NonNegativeInt = 0
    draws: NonNegativeInt = 0
    losses: NonNegativeInt = 0
    pair_scores: tuple[NonNegativeInt, NonNegativeInt, NonNegativeInt, NonNegativeInt, NonNegativeInt] | None = Field(
        None,
        description="The looks of the test: side-swapped pairs in which the policy scored 0, ½, 1, 1½ and 2 of 2. Null "
        "where no battle was needed.",
    )
    log_evidence_against_low: float | None = Field(
        None,
        description="That the policy is stronger than its parent; the log likelihood ratio where a look is one "
        "battle without a draw. Null where no battle was needed.",
    )
    log_evidence_against_high: float | None = Field(None, description="That it is not stronger by gate.elo points.")
    accept_bound: float | None = Field(None, description="The first log evidence is enough from here on.")
    reject_bound: float | None = Field(None, description="The second log evidence is enough from here on.")
    payoff: float | None = Field(
        None,
        description="Exact payoff against the parent in a tabular game, in the game's units. Above 0 is accepted.",
    )
    failures: dict[str, NonNegativeInt] = Field(
        default_factory=dict, description="Failed tries by cause; each was replayed."
    )

    @property
    def battles(self) -> int:
        """Battles that the decision rests on."""
        return self.wins + self.draws + self.losses


def admitted(trained: Iterable[TrainingResult], gates: Iterable[GateResult]) -> tuple[TrainingResult, ...]:
    """Return an iteration's results whose policies join the population: all that no gate rejected."""
    rejected = {gate.policy for gate in gates if gate.decision == "reject"}
    return tuple(result for result in trained if result.policy not in rejected)


Decision = Literal["accept", "reject", "continue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """Hypotheses and error rates of a test."""

    elo_low: float = 0.0
    """H0: the policy is stronger by at most this, in Elo."""
    elo_high: float = 50.0
    """H1: it is stronger by at least this, in Elo."""
    alpha: float = 0.05
    """Largest probability of accepting where H0 is true."""
    beta: float = 0.05
    """Largest probability of rejecting where H1 is true."""
    battles_per_look: int = 2
    """2: side-swapped pairs, in which the luck of the teams cancels."""

    @property
    def accept_bound(self) -> float:
        """Log evidence against H0 at which the test accepts."""
        return -log(self.alpha)

    @property
    def reject_bound(self) -> float:
        """Log evidence against H1 at which the test rejects."""
        return -log(self.beta)

    def log_factors(self, score: float) -> tuple[float, float]:
        """Return what a look of mean ``score`` in [0, 1] adds to the log evidence against H0 and against H1."""
        low, high = score_of_elo(self.elo_low), score_of_elo(self.elo_high)
        lost = ((1.0 - high) / (1.0 - low)) ** self.battles_per_look
        won = (low / high) ** self.battles_per_look
        against_low = 1.0 + (1.0 - lost) * (score - low) / low
        against_high = 1.0 + (1.0 - won) * (high - score) / (1.0 - high)
        return log(against_low), log(against_high)


@dataclass(frozen=True, slots=True)
class SequentialState:
    """The state of a test after some looks."""

    test: SequentialTest
    num_looks: int = 0
    log_evidence_against_low: float = 0.0
    """Log likelihood ratio of H1 to H0, if a look is one battle without a draw."""
    log_evidence_against_high: float = 0.0

    @property
    def decision(self) -> Decision:
        """Accept: stronger than ``elo_low``. Reject: not as strong as ``elo_high``. Each at its error rate."""
        if self.log_evidence_against_low >= self.test.accept_bound:
            return "accept"
        if self.log_evidence_against_high >= self.test.reject_bound:
            return "reject"
        return "continue"

    def observe(self, score: float) -> "SequentialState":
        """Return the state after one more look. A test that has decided stays as it is.

        ``score`` is the policy's mean score over the look's battles, in [0, 1], a draw being half a win.
        """
        if not 0.0 <= score <= 1.0:
            raise ValueError(f"a look's score is {score}; expected the mean of its battles, from 0 to 1")
        if self.decision != "continue":
            return self
        low, high = self.test.log_factors(score)
        return SequentialState(
            self.test, self.num_looks + 1, self.log_evidence_against_low + low, self.log_evidence_against_high + high
        )
