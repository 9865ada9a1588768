"""Payoff evidence from battles: integer counts by id, and everything that is estimated from them.

No rate is ever stored, an unplayed cell holds 0 games, and nothing is matched by position: a member that moves, joins
or leaves takes its own counts along.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.exploitability import Answer, ExploitabilityEstimate, best_response_gap
from nashdex.metagame.evidence.battles import BattleRecord, Battles, PlannedBattle, tally_of
from nashdex.metagame.evidence.counts import check_counts, check_pairs
from nashdex.metagame.evidence.estimates import (
    DrawnColumns,
    Floats,
    Integers,
    Tally,
    cell_intervals,
    centred,
    score_blocks,
)
from nashdex.metagame.evidence.imputation import Imputation, filled, filled_cells
from nashdex.metagame.evidence.large import is_large
from nashdex.metagame.evidence.ledger import ShardLedger
from nashdex.metagame.evidence.matrix import Coverage, InteractionMatrix, IntervalWidths, Payoffs
from nashdex.metagame.evidence.pairs import CountTable, PairCounts, PairStatistics, count_table, pair_statistics
from nashdex.metagame.evidence.planned import (
    Demand,
    PlannedCell,
    battles_of,
    check_played_as_planned,
    planned_cells,
)
from nashdex.metagame.evidence.tally import draws_a_block
from nashdex.metagame.ratings.table import RatingTable, rate


class SampledCounts(InteractionMatrix):
    """Integer counts of every cell; ``wins[i][j]`` counts i's wins against j. Shape (K, K) each."""

    kind: Literal["counts"] = "counts"
    wins: CountTable
    draws: CountTable
    games: CountTable
    pairs: PairCounts = Field(description="The side-swapped pairs among the games; the other battles are single.")

    evidence: ClassVar[Evidence] = Evidence.COUNTS

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if self.policies or self.wins or self.draws or self.games:
            check_counts(self.policies, self.wins, self.draws, self.games)
            check_pairs(self.policies, self.wins, self.draws, dict(self.pairs))
        return self

    @classmethod
    def unplayed(cls, policies: Sequence[PolicyId]) -> Self:
        """Return the counts of ``policies`` before any battle."""
        return cls.of(policies, Tally.nothing(len(policies)))

    @classmethod
    def of(cls, policies: Sequence[PolicyId], tally: Tally) -> Self:
        """Return the counts of ``policies`` that ``tally`` holds in their order."""
        return cls(
            policies=tuple(policies),
            wins=count_table(tally.wins),
            draws=count_table(tally.draws),
            games=count_table(tally.games),
            pairs=PairCounts.of(tally),
        )

    def to_json(self) -> bytes:
        """Return the document as JSON; of a large population without indentation, which would be most of it."""
        return self.model_dump_json().encode() + b"\n" if is_large(len(self.policies)) else super().to_json()

    @cached_property
    def tally(self) -> Tally:
        """The counts as arrays of shape (K, K), which are not to be written to."""
        shape = (len(self.policies), len(self.policies))
        tables = [self.wins, self.draws, self.games, *dict(self.pairs).values()]
        arrays = [np.array(table, dtype=np.int64).reshape(shape) for table in tables]
        for array in arrays:
            array.setflags(write=False)
        return Tally(*arrays)

    def battles_by_cell(self) -> Integers:
        """Return ``games`` as an array of shape (K, K)."""
        return self.tally.games

    def over(self, policies: Sequence[PolicyId]) -> Self:
        """Return the counts among ``policies``, in that order; a policy that is new here has played nothing."""
        return self.of(policies, self._tally_over(policies))

    def _tally_over(self, policies: Sequence[PolicyId]) -> Tally:
        known = {policy: index for index, policy in enumerate(self.policies)}
        tally, size = Tally.nothing(len(policies)), range(len(policies))
        old = [place for place in size if policies[place] in known]
        kept = self.tally.over([known[policies[place]] for place in old])
        for name in Tally.tables():
            getattr(tally, name)[np.ix_(old, old)] = getattr(kept, name)
        return tally

    def missing_cells(self, policies: Sequence[PolicyId], demand: Demand) -> list[PlannedCell]:
        """Return the cells among ``policies`` that lack battles, in the order of ids."""
        members = sorted(policies)
        return planned_cells(members, self._tally_over(members).games, demand)

    def missing(self, policies: Sequence[PolicyId], demand: Demand) -> list[PlannedBattle]:
        """Return the battles that ``policies`` still have to play."""
        return battles_of(self.missing_cells(policies, demand))

    def with_results(self, policies: Sequence[PolicyId], demand: Demand, ledgers: Sequence[ShardLedger]) -> Self:
        """Return the counts of ``policies`` with every recorded battle added.

        Raises:
            DataError: the ledgers do not hold exactly the battles that were missing.
        """
        check_played_as_planned(self.missing_cells(policies, demand), ledgers)
        return self.with_records(policies, Battles.joined(ledger.battles for ledger in ledgers))

    def with_records(self, policies: Sequence[PolicyId], records: Iterable[BattleRecord]) -> Self:
        """Return the counts of ``policies`` with ``records`` added.

        Raises:
            DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
        """
        return self.of(policies, self._tally_over(policies) + tally_of(policies, records))

    def payoffs_with(self, unplayed: Imputation, *, num_draws: int, seed: int) -> Payoffs:
        """Return A = P̂ − ½ with draws from its posterior.

        Raises:
            DataError: a pair has not played and that blocks.
        """
        return posterior_payoffs(self.policies, self.tally, unplayed, num_draws=num_draws, seed=seed)

    def rated(self, anchors: Mapping[str, float], *, num_draws: int, seed: int) -> RatingTable:
        """Return Bradley–Terry ratings of the counts.

        Raises:
            DataError: an anchor is not a policy here.
        """
        return rate(self.policies, self.tally, anchors=anchors, num_draws=num_draws, seed=seed)

    def pair_statistics(self) -> PairStatistics:
        """Return how the two battles of a pair go together, and how many independent ones all are worth."""
        return pair_statistics(self.tally)

    def best_response_gap(self, answer: Answer) -> ExploitabilityEstimate | None:
        """Return the gain of the best new policy, from the battles played since the mixture was chosen."""
        return best_response_gap(answer)

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
        """Return the widths of the cells' intervals, by side-swapped pairs."""
        rows, columns = np.triu_indices(len(self.policies), k=1)
        if not len(rows):
            return IntervalWidths(mean=0.0, largest=0.0, largest_cell=None)
        low, high = cell_intervals(self.tally)
        widths = (high - low)[rows, columns]
        widest = int(widths.argmax())
        return IntervalWidths(
            mean=float(widths.mean()),
            largest=float(widths.max()),
            largest_cell=(self.policies[rows[widest]], self.policies[columns[widest]]),
        )


def posterior_payoffs(
    policies: Sequence[PolicyId], tally: Tally, unplayed: Imputation, *, num_draws: int, seed: int
) -> Payoffs:
    """Return A = P̂ − ½ of counts in the order of ``policies``, with draws from its posterior.

    Raises:
        DataError: a pair has not played and that blocks.
    """
    scores, imputed = filled(policies, tally, unplayed)
    cells = filled_cells(policies, tally, (scores, imputed), unplayed, num_draws=num_draws, seed=seed)
    block = draws_a_block(len(policies), num_draws)

    def draws() -> Iterator[Floats]:
        for block_of_scores in score_blocks(policies, cells, num_draws=num_draws, block=block):
            yield centred(block_of_scores)

    return Payoffs(centred(scores), draws, imputed, DrawnColumns(policies, cells, num_draws))
