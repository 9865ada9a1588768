"""Payoff evidence of tabular games: payoffs computed from the whole game tree. Every pair once, by id.

Shards of evaluate divide the pairs that the matrix of the iteration before does not hold; solve puts them together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PositiveFloat, model_validator

from nashdex.core.errors import DataError
from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.exploitability import Answer, ExploitabilityEstimate, exact_best_response_gap
from nashdex.metagame.evidence.battles import Pair
from nashdex.metagame.evidence.counts import check_names
from nashdex.metagame.evidence.estimates import EVEN, Floats
from nashdex.metagame.evidence.imputation import Imputation
from nashdex.metagame.evidence.ledger import ExactCell, ShardLedger
from nashdex.metagame.evidence.matrix import InteractionMatrix, Payoffs
from nashdex.metagame.evidence.planned import ADVICE, Demand
from nashdex.metagame.ratings.exact import rate_exact
from nashdex.metagame.ratings.table import RatingTable


class ExactValues(InteractionMatrix):
    """Expected payoffs of every pair, without error. Shape (K, K)."""

    kind: Literal["exact"] = "exact"
    payoffs: tuple[tuple[float, ...], ...] = Field(
        description="Expected payoffs to the row, the mean over both seatings, in the game's units; antisymmetric."
    )
    largest_payoff: PositiveFloat = Field(description="Largest payoff of either seat in any play, in the game's units.")

    evidence: ClassVar[Evidence] = Evidence.EXACT

    @model_validator(mode="after")
    def _payoffs_are_antisymmetric(self) -> Self:
        size = len(self.policies)
        if [len(row) for row in self.payoffs] != [size] * size:
            raise ValueError(f"payoffs is not a square table of {size} policies")
        if size:
            check_names(self.policies)
        payoffs = self.array()
        wrong = np.argwhere(payoffs != -payoffs.T)
        if len(wrong):
            i, j = wrong[0]
            raise ValueError(
                f"payoffs of {self.policies[i]!r} against {self.policies[j]!r} are {payoffs[i, j]} one way and "
                f"{payoffs[j, i]} the other; expected one to be minus the other"
            )
        return self

    @classmethod
    def unknown(cls, largest_payoff: float) -> Self:
        """Return the payoffs among no policies."""
        return cls(policies=(), payoffs=(), largest_payoff=largest_payoff)

    def array(self) -> Floats:
        """Return the payoffs, of shape (K, K)."""
        return np.array(self.payoffs, dtype=np.float64).reshape(len(self.policies), len(self.policies))

    def over(self, policies: Sequence[PolicyId]) -> Self:
        """Return the payoffs among ``policies``, in that order.

        Raises:
            DataError: the payoffs of one are not known.
        """
        place = {policy: index for index, policy in enumerate(self.policies)}
        new = [policy for policy in policies if policy not in place]
        if new:
            raise DataError(f"the payoffs of {new[0]!r} are not known; run the evaluate step that computes them")
        payoffs = tuple(tuple(self.payoffs[place[i]][place[j]] for j in policies) for i in policies)
        return type(self)(policies=tuple(policies), payoffs=payoffs, largest_payoff=self.largest_payoff)

    def missing(self, policies: Sequence[PolicyId], demand: Demand) -> list[Pair]:
        """Return the pairs of ``policies`` whose payoff is not known, sorted by id. The demand has no effect."""
        del demand
        known = set(self.policies)
        return [pair for pair in combinations(sorted(policies), 2) if not known.issuperset(pair)]

    def with_results(self, policies: Sequence[PolicyId], demand: Demand, ledgers: Sequence[ShardLedger]) -> Self:
        """Return the payoffs of ``policies``: those known before, and the ledgers' for every pair that was missing.

        Raises:
            DataError: a pair is missing, recorded twice, or was not asked for.
        """
        cells = [cell for ledger in ledgers for cell in ledger.exact]
        _check_asked_for(self.missing(policies, demand), cells)
        place = {policy: index for index, policy in enumerate(policies)}
        payoffs = np.zeros((len(policies), len(policies)))
        old = [place[policy] for policy in self.policies]
        payoffs[np.ix_(old, old)] = self.array()
        for cell in cells:
            first, second = (place[policy] for policy in cell.policies)
            payoffs[first, second], payoffs[second, first] = cell.payoff, -cell.payoff
        return type(self)(
            policies=tuple(policies),
            payoffs=tuple(tuple(row) for row in payoffs.tolist()),
            largest_payoff=self.largest_payoff,
        )

    def payoffs_with(self, unplayed: Imputation, *, num_draws: int, seed: int) -> Payoffs:
        """Return the payoffs; nothing is drawn or imputed."""
        del unplayed, num_draws, seed
        return Payoffs(self.array(), None)

    def rated(self, anchors: Mapping[str, float], *, num_draws: int, seed: int) -> RatingTable:
        """Return ratings without errors, fitted to the expected scores ½ + payoff / (2 · largest payoff).

        Raises:
            DataError: an anchor is not a policy here.
        """
        del num_draws, seed
        return rate_exact(self.policies, EVEN + self.array() / (2 * self.largest_payoff), anchors=anchors)

    def best_response_gap(self, answer: Answer) -> ExploitabilityEstimate | None:
        """Return the gain of the best new policy."""
        return exact_best_response_gap(self.policies, self.array(), answer)

    def win_rates(self, learner: PolicyId) -> dict[PolicyId, float]:
        """Return ½ + payoff / (2 · largest payoff)."""
        me = self.policies.index(learner)
        return {
            policy: EVEN + self.payoffs[me][index] / (2.0 * self.largest_payoff)
            for index, policy in enumerate(self.policies)
            if policy != learner
        }


def _check_asked_for(asked: Sequence[Pair], cells: Sequence[ExactCell]) -> None:
    found = [cell.policies for cell in cells]
    for pairs, problem in (
        ({pair for pair, times in Counter(found).items() if times > 1}, "is recorded twice"),
        (set(found) - set(asked), "was not asked for"),
        (set(asked) - set(found), "is in no ledger"),
    ):
        if pairs:
            first, second = min(pairs)
            raise DataError(f"the payoff of {first!r} against {second!r} {problem}; {ADVICE}")
