"""The payoff evidence among the members of a population, as solve publishes it: ``interaction_matrix.json``.

There are two kinds: ``SampledCounts`` where battles are played, ``ExactValues`` where payoffs follow from the game's
tree. Code that needs payoffs, their uncertainty or what is still missing asks the evidence, and not which kind it is.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from nashdex.core.documents import Document, Model, describe_problems
from nashdex.core.errors import DataError
from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.metagame.analysis.exploitability import Answer, ExploitabilityEstimate
from nashdex.metagame.evidence.estimates import Floats, Integers
from nashdex.metagame.evidence.imputation import Imputation
from nashdex.metagame.evidence.ledger import BattleRecord, Pair, PlannedBattle, ShardLedger
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
    drawn: Floats | None
    """Draws from their posterior, shape (D, K, K); None where they are exact."""
    imputed: tuple[tuple[PolicyId, PolicyId], ...] = ()
    """Cells whose payoff was imputed."""


class InteractionMatrix(Document, ABC):
    """What is known of the payoffs among ``policies``. This is the whole of its surface; all of it follows ids."""

    schema_version: int = 3
    policies: tuple[PolicyIdField, ...]

    evidence: ClassVar[Evidence]
    """Which kind it is. Only the table of kinds in a package asks."""

    @classmethod
    def from_json(cls, data: bytes, source: str) -> Self:
        """Parse either kind, as its field ``kind`` says."""
        if cls is not InteractionMatrix:
            return super().from_json(data, source)
        # Late: both are its subclasses.
        from nashdex.metagame.evidence.kinds import KINDS  # noqa: PLC0415

        try:
            header = _Header.model_validate_json(data)
        except ValidationError as error:
            raise DataError(f"{source} is not a valid {cls.__name__}: {describe_problems(error)}") from error
        known = cls.model_fields["schema_version"].default
        if header.schema_version != known:
            raise DataError(
                f"{source} has schema version {header.schema_version}; this nashdex reads {known}. Version 2 does not "
                "say which battles are a side-swapped pair; the ledgers do: remove the run's solve manifests and run "
                "it again, which plays no battle twice"
            )
        return KINDS[header.kind].from_json(data, source)  # type: ignore[return-value]  # a subclass of it

    @abstractmethod
    def battles_by_cell(self) -> Integers:
        """Return how many battles every pair has played, shape (K, K)."""

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
        """Return the payoffs, those of unplayed pairs by ``unplayed``, with ``num_draws`` posterior draws.

        Raises:
            DataError: a pair has not played and that blocks.
        """

    @abstractmethod
    def rated(
        self, anchors: Mapping[str, float], records: Iterable[BattleRecord], *, num_draws: int, seed: int
    ) -> RatingTable:
        """Return the rating of every policy. Arguments as of ``ratings.table.rate``.

        Raises:
            DataError: an anchor is not a policy here, or a record is not counted.
        """

    @abstractmethod
    def pair_statistics(self) -> PairStatistics | None:
        """Return how the two battles of a side-swapped pair go together; None where no battles are played."""

    @abstractmethod
    def best_response_gap(self, answer: Answer) -> ExploitabilityEstimate | None:
        """Return what the best of an iteration's new policies gains against the mixture that they answered.

        None where no candidate met all of the mixture in the battles that it would be judged by.
        """

    @abstractmethod
    def win_rates(self, learner: PolicyId) -> dict[PolicyId, float]:
        """Return the learner's win rate against each other policy, from 0 to 1, by id."""

    @abstractmethod
    def coverage(self) -> Coverage:
        """Return how much of the matrix is known."""

    @abstractmethod
    def interval_widths(self) -> IntervalWidths:
        """Return how wide the cells' intervals are."""


class _Header(BaseModel):
    """The fields that say which kind and version a document is."""

    model_config = ConfigDict(extra="ignore")

    kind: Evidence
    schema_version: int = 1
