"""Payoff evidence from battles: integer counts by id, and everything that is estimated from them.

No rate is ever stored, an unplayed cell holds 0 games, and nothing is matched by position: a member that moves, joins
or leaves takes its own counts along.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import NonNegativeInt, model_validator

from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.exploitability import Answer, ExploitabilityEstimate, best_response_gap
from nashdex.metagame.evidence.counts import check_counts
from nashdex.metagame.evidence.estimates import Integers, centred, wilson_interval
from nashdex.metagame.evidence.imputation import Imputation, filled, filled_draws
from nashdex.metagame.evidence.ledger import BattleRecord, PlannedBattle, ShardLedger, count_records
from nashdex.metagame.evidence.matrix import Coverage, InteractionMatrix, IntervalWidths, Payoffs
from nashdex.metagame.evidence.planned import (
    Demand,
    PlannedCell,
    battles_of,
    check_played_as_planned,
    planned_cells,
)
from nashdex.metagame.ratings.table import RatingTable, rate

CountTable = tuple[tuple[NonNegativeInt, ...], ...]


class SampledCounts(InteractionMatrix):
    """Integer counts of every pair; ``wins[i][j]`` counts i's wins against j. Shape (K, K) each."""

    kind: Literal["counts"] = "counts"
    wins: CountTable
    draws: CountTable
    games: CountTable

    evidence: ClassVar[Evidence] = Evidence.COUNTS

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if self.policies or self.wins or self.draws or self.games:
            check_counts(self.policies, self.wins, self.draws, self.games)
        return self

    @classmethod
    def unplayed(cls, policies: Sequence[PolicyId]) -> Self:
        """Return the counts of ``policies`` before any battle."""
        zeros = tuple((0,) * len(policies) for _ in policies)
        return cls(policies=tuple(policies), wins=zeros, draws=zeros, games=zeros)

    def arrays(self) -> tuple[Integers, Integers, Integers]:
        """Return wins, draws and games, each of shape (K, K)."""
        shape = (len(self.policies), len(self.policies))
        wins, draws, games = (np.array(c, dtype=np.int64).reshape(shape) for c in (self.wins, self.draws, self.games))
        return wins, draws, games

    def battles_by_cell(self) -> Integers:
        """Return ``games`` as an array of shape (K, K)."""
        return self.arrays()[2]

    def over(self, policies: Sequence[PolicyId]) -> Self:
        """Return the counts among ``policies``, in that order; a policy that is new here has played nothing."""
        place = {policy: index for index, policy in enumerate(self.policies)}

        def moved(table: CountTable) -> CountTable:
            return tuple(
                tuple(table[place[i]][place[j]] if i in place and j in place else 0 for j in policies) for i in policies
            )

        return type(self)(
            policies=tuple(policies), wins=moved(self.wins), draws=moved(self.draws), games=moved(self.games)
        )

    def missing_cells(self, policies: Sequence[PolicyId], demand: Demand) -> list[PlannedCell]:
        """Return the cells among ``policies`` that lack battles, in the order of ids."""
        members = sorted(policies)
        return planned_cells(members, self.over(members).battles_by_cell(), demand)

    def missing(self, policies: Sequence[PolicyId], demand: Demand) -> list[PlannedBattle]:
        """Return the battles that ``policies`` still have to play."""
        return battles_of(self.missing_cells(policies, demand))

    def with_results(self, policies: Sequence[PolicyId], demand: Demand, ledgers: Sequence[ShardLedger]) -> Self:
        """Return the counts of ``policies`` with every recorded battle added.

        Raises:
            DataError: the ledgers do not hold exactly the battles that were missing.
        """
        check_played_as_planned(self.missing(policies, demand), ledgers)
        return self.with_records(policies, [record for ledger in ledgers for record in ledger.battles])

    def with_records(self, policies: Sequence[PolicyId], records: Iterable[BattleRecord]) -> Self:
        """Return the counts of ``policies`` with ``records`` added.

        Raises:
            DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
        """
        added = count_records(policies, records)
        wins, draws, games = (_table(old + new) for old, new in zip(self.over(policies).arrays(), added, strict=True))
        return type(self)(policies=tuple(policies), wins=wins, draws=draws, games=games)

    def payoffs_with(self, unplayed: Imputation, *, num_draws: int, seed: int) -> Payoffs:
        """Return A = P̂ − ½ with draws from its posterior.

        Raises:
            DataError: a pair has not played and that blocks.
        """
        scores, imputed = filled(self.policies, *self.arrays(), unplayed)
        drawn = filled_draws(self.policies, *self.arrays(), unplayed, num_draws=num_draws, seed=seed)
        return Payoffs(centred(scores), centred(drawn), imputed)

    def rated(
        self, anchors: Mapping[str, float], records: Iterable[BattleRecord], *, num_draws: int, seed: int
    ) -> RatingTable:
        """Return Bradley–Terry ratings of the counts.

        Raises:
            DataError: an anchor is no policy here, or there are more records than counts.
        """
        return rate(self.policies, *self.arrays(), anchors=anchors, records=records, num_draws=num_draws, seed=seed)

    def best_response_gap(self, answer: Answer, *, num_draws: int, seed: int) -> ExploitabilityEstimate | None:
        """Return the gain of the best new policy, from the battles played since the mixture was chosen."""
        return best_response_gap(answer, num_draws=num_draws, seed=seed)

    def win_rates(self, learner: PolicyId) -> dict[PolicyId, float]:
        """Return (w + 1) / (n + 2), a draw half a win: ½ for a policy that it never met, and never 0 or 1."""
        me = self.policies.index(learner)
        wins, draws, games = self.wins[me], self.draws[me], self.games[me]
        return {
            policy: (wins[index] + draws[index] / 2 + 1.0) / (games[index] + 2.0)
            for index, policy in enumerate(self.policies)
            if policy != learner
        }

    def coverage(self) -> Coverage:
        """Return how many pairs have played."""
        games = self.battles_by_cell()
        cells = games[np.triu_indices(len(games), k=1)]
        played = cells > 0
        return Coverage(
            num_cells=len(cells),
            num_played=int(played.sum()),
            share=float(played.mean()) if len(cells) else 1.0,
            fewest_games=int(cells.min(initial=cells.max(initial=0))),
            most_games=int(cells.max(initial=0)),
        )

    def interval_widths(self) -> IntervalWidths:
        """Return the widths of the cells' Wilson intervals."""
        wins, draws, games = self.arrays()
        rows, columns = np.triu_indices(len(games), k=1)
        if not len(rows):
            return IntervalWidths(mean=0.0, largest=0.0, largest_cell=None)
        low, high = wilson_interval((wins + draws / 2)[rows, columns], games[rows, columns])
        widest = int((high - low).argmax())
        return IntervalWidths(
            mean=float((high - low).mean()),
            largest=float((high - low).max()),
            largest_cell=(self.policies[rows[widest]], self.policies[columns[widest]]),
        )


def _table(array: Integers) -> CountTable:
    return tuple(tuple(int(count) for count in row) for row in array)
