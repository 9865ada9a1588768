"""The payoff ledger: what was played, as integers, by id.

Evaluate's shards record battles; solve adds them into one matrix of counts. No rate is ever stored, an unplayed cell
holds 0 games, and nothing is matched by position: a member that moves, joins or leaves takes its own counts along.

The battles of a cell are numbered. Number n of the cell (a, b), a before b by id, belongs to pair n // 2, whose two
battles are played with the same two teams and the seats swapped: a sits in seat n % 2. An odd last one is alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.metagame.evidence.counts import check_counts
from nashdex.metagame.population import Population

LEDGER = "ledger.json"
"""The name of a shard's ledger among its attempt's objects."""

Counts = tuple[tuple[NonNegativeInt, ...], ...]
_Number = TypeVar("_Number", int, float)


class Purpose(StrEnum):
    """What a battle may be used for where the best of several policies is both chosen and scored.

    The winner of many noisy scores looks better than it is on the battles that made it the winner, so no battle does
    both. Both battles of a side-swapped pair have one purpose.
    """

    SELECTION = "selection"
    SCORING = "scoring"

    @staticmethod
    def of_pair(pair: int) -> "Purpose":
        """Return the purpose of the battles of a side-swapped pair: even pairs choose, odd pairs score."""
        return Purpose.SCORING if pair % 2 else Purpose.SELECTION


class PlannedBattle(NamedTuple):
    """One battle of the cell (a, b), a before b by id."""

    a: PolicyId
    b: PolicyId
    number: int

    @property
    def pair(self) -> int:
        """The side-swapped pair within the cell: both its battles use the same two teams."""
        return self.number // 2

    @property
    def seats(self) -> tuple[PolicyId, PolicyId]:
        """Who sits where."""
        return (self.a, self.b) if self.number % 2 == 0 else (self.b, self.a)


class PlannedCell(NamedTuple):
    """The battles that a cell still lacks."""

    a: PolicyId
    b: PolicyId
    numbers: range


class BattleRecord(Model):
    """One finished battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="By seat.")
    pair: NonNegativeInt = Field(description="Side-swapped pair within the cell.")
    purpose: Purpose = Field(
        default_factory=lambda checked: Purpose.of_pair(checked.get("pair", 0)),
        description="What it may be used for where a policy is chosen and scored: one or the other.",
    )
    seed: NonNegativeInt
    teams: tuple[str, str] = Field(description="By seat: the team's number in the run's set, or the seed it came from.")
    winner: int | None = Field(ge=0, le=1, description="Seat; null for a draw.")
    turns: NonNegativeInt
    decisions: NonNegativeInt = Field(description="By both seats.")

    @model_validator(mode="after")
    def _policies_differ(self) -> "BattleRecord":
        if self.policies[0] == self.policies[1]:
            raise ValueError(f"{self.policies[0]!r} is recorded against itself; expected two different policies")
        return self

    @model_validator(mode="after")
    def _purpose_is_that_of_the_pair(self) -> "BattleRecord":
        if self.purpose != Purpose.of_pair(self.pair):
            raise ValueError(f"a battle of pair {self.pair} is for {Purpose.of_pair(self.pair)}, not {self.purpose}")
        return self

    @property
    def planned(self) -> PlannedBattle:
        """Which of its cell's battles this is."""
        a, b = sorted(self.policies)
        return PlannedBattle(a, b, 2 * self.pair + (self.policies[0] != a))


class ExactCell(Model):
    """The expected payoff of a pair whose game is small enough to add up; no battle was played for it."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Sorted by id.")
    payoff: float = Field(description="To the first, the mean over both seatings, in the game's own units.")

    @model_validator(mode="after")
    def _policies_are_sorted(self) -> "ExactCell":
        first, second = self.policies
        if not first < second:
            raise ValueError(f"{first!r} and {second!r}: expected two different policies, sorted by id")
        return self


class SavedReplay(Model):
    """A battle that can be watched."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="By seat.")
    pair: NonNegativeInt
    object: str = Field(description="The replay's name among the shard's objects.")


class ShardLedger(Document):
    """What one shard of evaluate played."""

    battles: tuple[BattleRecord, ...]
    failures: dict[str, NonNegativeInt] = Field(description="Failed tries by cause; each was replayed.")
    rejected_choices: NonNegativeInt
    decisions: NonNegativeInt = Field(description="By both seats, in finished battles.")
    seconds: NonNegativeFloat
    cpu_seconds: NonNegativeFloat = Field(description="Of all processes, user and system.")
    replays: tuple[SavedReplay, ...] = ()
    exact: tuple[ExactCell, ...] = Field((), description="Payoffs of a tabular game, in place of battles.")


class InteractionMatrix(Document):
    """Integer counts of every pair; ``wins[i][j]`` counts i's wins against j. Shape (K, K) each."""

    policies: tuple[PolicyIdField, ...]
    wins: Counts
    draws: Counts
    games: Counts
    payoffs: tuple[tuple[float, ...], ...] | None = Field(
        None,
        description="Of a tabular game: expected payoffs to the row, in the game's units, antisymmetric. No battle is "
        "counted then. Null where battles are.",
    )

    @model_validator(mode="after")
    def _counts_agree(self) -> "InteractionMatrix":
        check_counts(self.policies, self.wins, self.draws, self.games)
        return self

    @model_validator(mode="after")
    def _payoffs_are_antisymmetric(self) -> "InteractionMatrix":
        if self.payoffs is not None:
            size = len(self.policies)
            if [len(row) for row in self.payoffs] != [size] * size:
                raise ValueError(f"payoffs is no square table of {size} policies")
            payoffs = np.array(self.payoffs).reshape(size, size)
            wrong = np.argwhere(payoffs != -payoffs.T)
            if len(wrong):
                i, j = wrong[0]
                raise ValueError(
                    f"payoffs of {self.policies[i]!r} against {self.policies[j]!r} are {payoffs[i, j]} one way and "
                    f"{payoffs[j, i]} the other; expected one to be minus the other"
                )
        return self

    @classmethod
    def unplayed(cls, policies: Sequence[PolicyId]) -> "InteractionMatrix":
        """Return the matrix of ``policies`` before any battle."""
        zeros = tuple((0,) * len(policies) for _ in policies)
        return cls(policies=tuple(policies), wins=zeros, draws=zeros, games=zeros)

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return wins, draws and games, each of shape (K, K)."""
        shape = (len(self.policies), len(self.policies))
        wins, draws, games = (np.array(c, dtype=np.int64).reshape(shape) for c in (self.wins, self.draws, self.games))
        return wins, draws, games

    def over(self, policies: Sequence[PolicyId]) -> "InteractionMatrix":
        """Return the cells among ``policies``, in that order; a policy that is new here has played nothing."""
        known = set(self.policies)
        new = [policy for policy in policies if policy not in known]
        if self.payoffs is not None and new:
            raise DataError(f"the payoffs of {new[0]!r} are not known; run the evaluate step that computes them")
        place = {policy: index for index, policy in enumerate(self.policies)}

        def moved(table: tuple[tuple[_Number, ...], ...], unknown: _Number) -> tuple[tuple[_Number, ...], ...]:
            return tuple(
                tuple(table[place[i]][place[j]] if i in known and j in known else unknown for j in policies)
                for i in policies
            )

        return InteractionMatrix(
            policies=tuple(policies),
            wins=moved(self.wins, 0),
            draws=moved(self.draws, 0),
            games=moved(self.games, 0),
            payoffs=None if self.payoffs is None else moved(self.payoffs, 0.0),
        )

    def restricted_to(self, policies: Sequence[PolicyId]) -> "InteractionMatrix":
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


def add_ledgers(
    matrix: InteractionMatrix | None, policies: Sequence[PolicyId], ledgers: Iterable[ShardLedger]
) -> InteractionMatrix:
    """Return the counts of ``policies`` with every recorded battle added to those of ``matrix``, all by id.

    Raises:
        DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
    """
    base = (matrix or InteractionMatrix.unplayed(policies)).over(policies)
    added = count_records(policies, [record for ledger in ledgers for record in ledger.battles])
    wins, draws, games = (_counts(old + new) for old, new in zip(base.arrays(), added, strict=True))
    return InteractionMatrix(policies=tuple(policies), wins=wins, draws=draws, games=games)


def count_records(
    policies: Sequence[PolicyId], records: Iterable[BattleRecord]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return wins, draws and games of ``records``, each of shape (K, K).

    Raises:
        DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
    """
    wins, draws, games = (np.zeros((len(policies), len(policies)), dtype=np.int64) for _ in range(3))
    place = {policy: index for index, policy in enumerate(policies)}
    seen: set[PlannedBattle] = set()
    for record in records:
        if not set(record.policies) <= place.keys():
            stranger = next(policy for policy in record.policies if policy not in place)
            raise DataError(
                f"the ledger holds a battle of {stranger!r}, which is not in the population {list(policies)}"
            )
        if record.planned in seen:
            raise DataError(f"the ledgers hold {_named(record.planned)} twice; expected every battle once")
        seen.add(record.planned)
        first, second = (place[policy] for policy in record.policies)
        for i, j, seat in ((first, second, 0), (second, first, 1)):
            games[i, j] += 1
            draws[i, j] += record.winner is None
            wins[i, j] += record.winner == seat
    return wins, draws, games


def _counts(array: NDArray[np.int64]) -> Counts:
    return tuple(tuple(int(count) for count in row) for row in array)


def planned_battles(
    population: Population,
    matrix: InteractionMatrix | None,
    battles_per_pair: int,
    *,
    further: Mapping[tuple[PolicyId, PolicyId], int] = MappingProxyType({}),
) -> list[PlannedCell]:
    """Return the cells that lack battles and the numbers that they lack, in the order of ids.

    Every cell is wanted ``battles_per_pair`` battles, and those in ``further``, sorted by id, so many more than they
    have. Depends on who is in the population and on what was counted in earlier iterations, never on an order or on
    this iteration's own attempts: every shard and every retry reads the same plan.
    """
    members = sorted(population.ids)
    _, _, games = (matrix or InteractionMatrix.unplayed(members)).over(members).arrays()
    cells = []
    for i, j in combinations(range(len(members)), 2):
        a, b, played = members[i], members[j], int(games[i, j])
        wanted = max(battles_per_pair, played + further.get((a, b), 0))
        if played < wanted:
            cells.append(PlannedCell(a, b, range(played, wanted)))
    return cells


def battles_of(cells: Iterable[PlannedCell]) -> list[PlannedBattle]:
    """Return the battles of ``cells``, one after another: what shards divide among themselves."""
    return [PlannedBattle(cell.a, cell.b, number) for cell in cells for number in cell.numbers]


def check_played_as_planned(cells: Iterable[PlannedCell], ledgers: Iterable[ShardLedger]) -> None:
    """Check that the ledgers hold every planned battle once and nothing else.

    Raises:
        DataError: a battle is missing, doubled or was not planned; names it and says what to do.
    """
    planned = battles_of(cells)
    played = Counter(record.planned for ledger in ledgers for record in ledger.battles)
    doubled = [battle for battle, times in played.items() if times > 1]
    missing = [battle for battle in planned if battle not in played]
    unplanned = sorted(played.keys() - set(planned))
    advice = "remove the manifests of this iteration's evaluate shards and run them again"
    for battles, problem in (
        (doubled, "recorded more than once"),
        (unplanned, "recorded but was not planned"),
        (missing, "planned but in no ledger"),
    ):
        if battles:
            others = f" (and {len(battles) - 1} more)" if len(battles) > 1 else ""
            raise DataError(f"{_named(battles[0])}{others} is {problem}; {advice}")


def _named(battle: PlannedBattle) -> str:
    return f"battle {battle.number} of {battle.a!r} against {battle.b!r}"
