"""Which new policies join the population: the gate's result for each, and the rule that follows from it."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field, NonNegativeInt

from nashdex.core.documents import Document
from nashdex.core.ids import PolicyIdField
from nashdex.core.results import TrainingResult

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
