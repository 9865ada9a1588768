"""The payoff evidence among the members of a population, as solve publishes it: ``interaction_matrix.json``.

There are two kinds: ``SampledCounts`` where battles are played, ``ExactValues`` where payoffs follow from the game's
tree. Code that needs payoffs, their uncertainty or the missing battles asks the evidence of either kind.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import ClassVar, Final, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from nashdex.core.documents import Document, Model, describe_problems
from nashdex.core.errors import DataError
from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.metagame.analysis.exploitability import Answer, ExploitabilityEstimate
from nashdex.metagame.evidence.battles import Pair, PlannedBattle
from nashdex.metagame.evidence.estimates import DrawnColumns, Floats, Integers
from nashdex.metagame.evidence.imputation import Imputation
from nashdex.metagame.evidence.ledger import ShardLedger
from nashdex.metagame.evidence.pairs import PairStatistics
from nashdex.metagame.evidence.planned import Demand
from nashdex.metagame.ratings.table import RatingTable


class Coverage(Model):
    """How much of the payoff matrix is known."""

    num_cells: NonNegativeInt = Field(description="Pairs of policies.")
    num_played: NonNegativeInt = Field(description="Pairs whose payoff is known: played, or exact.")
    share: float = Field(ge=0.0, le=1.0, description="Known over all; 1 where there is one policy.")
    fewest_games: NonNegativeInt = Field(description="Fewest games of a cell.")
    most_games: NonNegativeInt = Field(description="Most games of a cell.")


class IntervalWidths(Model):
    """Widths of the cells' intervals, in expected score."""

    mean: NonNegativeFloat
    largest: NonNegativeFloat
    largest_cell: tuple[PolicyIdField, PolicyIdField] | None


@dataclass(frozen=True, slots=True)
class Payoffs:
    """The payoffs and how sure they are. K policies, D draws."""

    values: Floats
    """A of shape (K, K), antisymmetric, to the row player."""
    draws: Callable[[], Iterator[Floats]] | None
    """Yields draws from their posterior in blocks of shape (B, K, K), from the first on; None where they are exact."""
    imputed: tuple[tuple[PolicyId, PolicyId], ...] = ()
    """Cells whose payoff was imputed."""
    columns: DrawnColumns | None = None
    """The same draws by columns; None where payoffs are exact."""

    def drawn(self) -> Floats | None:
        """Return all draws at once, shape (D, K, K): D times the memory of the values."""
        return None if self.draws is None else np.concatenate([*self.draws()])


_KINDS: Final[Mapping[Evidence, str]] = {
    Evidence.COUNTS: "nashdex.metagame.evidence.sampled:SampledCounts",
    Evidence.EXACT: "nashdex.metagame.evidence.exact:ExactValues",
}
"""The subclasses, by what a game declares; named, because they import this module."""


class InteractionMatrix(Document, ABC):
    """What is known of the payoffs among ``policies``. This is the whole of its surface; all of it follows ids.

    What only battles have (counts, pairs, intervals) is here as it is without them, and ``SampledCounts`` has its own.
    """

    schema_version: int = 3
    policies: tuple[PolicyIdField, ...]

    evidence: ClassVar[Evidence]
    """Kind of the evidence. Only the table of kinds in a package reads it."""

    @classmethod
    def from_json(cls, data: bytes, source: str) -> Self:
        """Parse either kind, as its field ``kind`` says."""
        if cls is not InteractionMatrix:
            return super().from_json(data, source)
        try:
            header = _Header.model_validate_json(data)
        except ValidationError as error:
            raise DataError(f"{source} is not a valid {cls.__name__}: {describe_problems(error)}") from error
        known = cls.model_fields["schema_version"].default
        if header.schema_version != known:
            raise DataError(f"{source} has schema version {header.schema_version}; this nashdex reads {known}")
        kind: type[Self] = resolve_name(_KINDS[header.kind])
        return kind.from_json(data, source)

    def battles_by_cell(self) -> Integers:
        """Return how many battles every pair has played, shape (K, K): none where payoffs are exact."""
        return np.zeros((len(self.policies), len(self.policies)), dtype=np.int64)

    @abstractmethod
    def over(self, policies: Sequence[PolicyId]) -> Self:
        """Return the cells among ``policies``, in that order. Counts of a policy that is new here are 0.

        Raises:
            DataError: a policy is new here, and payoffs are exact.
        """

    def restricted_to(self, policies: Sequence[PolicyId]) -> Self:
        """Return the cells among ``policies``, in that order: drops and reorders members by id.

        Raises:
            DataError: a policy is not in the matrix, or is named twice.
        """
        unknown = sorted(set(policies) - set(self.policies))
        if unknown:
            raise DataError(f"the interaction matrix holds no policy {unknown[0]!r}; it holds {list(self.policies)}")
        twice = [policy for policy, times in Counter(policies).items() if times > 1]
        if twice:
            raise DataError(f"policy {twice[0]!r} is named twice; expected each once")
        return self.over(policies)

    @abstractmethod
    def missing(self, policies: Sequence[PolicyId], demand: Demand) -> Sequence[PlannedBattle] | Sequence[Pair]:
        """Return what evaluate has to find among ``policies``: the same for every shard and retry."""

    @abstractmethod
    def with_results(self, policies: Sequence[PolicyId], demand: Demand, ledgers: Sequence[ShardLedger]) -> Self:
        """Return the evidence among ``policies`` with what evaluate's shards have found.

        Raises:
            DataError: the ledgers do not hold exactly what was ``missing``; says what to do.
        """

    @abstractmethod
    def payoffs_with(self, unplayed: Imputation, *, num_draws: int, seed: int) -> Payoffs:
        """Return the payoffs, of unplayed pairs by ``unplayed``, with ``num_draws`` posterior draws.

        Raises:
            DataError: a pair has not played and that blocks.
        """

    @abstractmethod
    def rated(self, anchors: Mapping[str, float], *, num_draws: int, seed: int) -> RatingTable:
        """Return the rating of every policy. Arguments are as in ``ratings.table.rate``.

        Raises:
            DataError: an anchor is not a policy here.
        """

    def pair_statistics(self) -> PairStatistics | None:
        """Return how the two battles of a side-swapped pair go together; None where no battles are played."""
        return None

    @abstractmethod
    def best_response_gap(self, answer: Answer) -> ExploitabilityEstimate | None:
        """Return the gain of an iteration's best new policy against the opponents' mixture of its training.

        None if no candidate met all of the mixture in its scoring battles.
        """

    @abstractmethod
    def win_rates(self, learner: PolicyId) -> dict[PolicyId, float]:
        """Return the learner's win rate against each other policy, from 0 to 1, by id."""

    def coverage(self) -> Coverage:
        """Return how much of the matrix is known: every pair where payoffs are exact."""
        num_cells = len(self.policies) * (len(self.policies) - 1) // 2
        return Coverage(num_cells=num_cells, num_played=num_cells, share=1.0, fewest_games=0, most_games=0)

    def interval_widths(self) -> IntervalWidths:
        """Return how wide the cells' intervals are: 0 where payoffs are exact."""
        return IntervalWidths(mean=0.0, largest=0.0, largest_cell=None)


class _Header(BaseModel):
    """The fields with a document's kind and version."""

    model_config = ConfigDict(extra="ignore")

    kind: Evidence
    schema_version: int = 1
