"""The ledgers of evaluate's shards: battles that were played, and payoffs that were computed, all by id.

The battles of a cell are numbered. Number n of the cell (a, b), a before b by id, belongs to pair n // 2, whose two
battles are played with the same two teams and the seats swapped: a sits in seat n % 2. An odd last one is alone.
Against a program that plays by websocket, the server draws teams and seats: its battles have such numbers too, and are
independent.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.metagame.evidence.tally import Floats, Integers, Tally

LEDGER = "ledger.json"
"""The name of a shard's ledger among its attempt's objects."""

Pair = tuple[PolicyId, PolicyId]
"""Two policies, sorted by id."""


class Purpose(StrEnum):
    """The use of a battle where the best of several policies is both chosen and scored.

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


class BattleRecord(Model):
    """One finished battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Policies by seat.")
    pair: NonNegativeInt = Field(description="Side-swapped pair within the cell.")
    purpose: Purpose = Field(
        default_factory=lambda checked: Purpose.of_pair(checked.get("pair", 0)),
        description="Its use where a policy is chosen and scored: one or the other.",
    )
    seed: NonNegativeInt = Field(description="Seed of the battle, or of the policy's draws against a program.")
    teams: tuple[str, str] = Field(
        description="Each seat's team: its number in the run's set, or the seed that made it. Empty against a program."
    )
    winner: int | None = Field(ge=0, le=1, description="Seat; null for a draw.")
    turns: NonNegativeInt
    decisions: NonNegativeInt = Field(
        description="Decisions of both seats; against a program by websocket, of the policy."
    )

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
        first, second = self.policies
        if first < second:
            return PlannedBattle(first, second, 2 * self.pair)
        return PlannedBattle(second, first, 2 * self.pair + 1)


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

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Policies by seat.")
    pair: NonNegativeInt
    object: str = Field(description="The replay's name among the shard's objects.")


class UnplayedCell(Model):
    """A cell with a player of another program that was not available, or had no result for a battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Sorted by id.")
    cause: str = Field(description="Cause and detail of the failure.")


class ShardLedger(Document):
    """The result of one shard of evaluate."""

    battles: tuple[BattleRecord, ...]
    failures: dict[str, NonNegativeInt] = Field(description="Failed tries by cause; each was replayed.")
    rejected_choices: NonNegativeInt
    decisions: NonNegativeInt = Field(description="Decisions of both seats in finished battles.")
    seconds: NonNegativeFloat
    cpu_seconds: NonNegativeFloat = Field(description="CPU time of all processes, user and system.")
    replays: tuple[SavedReplay, ...] = ()
    exact: tuple[ExactCell, ...] = Field((), description="Payoffs of a tabular game, instead of battles.")
    unplayed: tuple[UnplayedCell, ...] = Field(
        (),
        exclude_if=lambda unplayed: not unplayed,
        description="Cells that count none of this iteration's battles, in any shard: a later iteration plays them.",
    )


def counted(ledgers: Sequence[ShardLedger]) -> list[ShardLedger]:
    """Return an iteration's ledgers without the battles of cells that one of its shards could not play whole.

    The battles of a cell are numbered without gaps, and a gap would never close.
    """
    unplayed = unplayed_pairs(ledgers)
    return [
        ledger
        if not unplayed
        else ledger.model_copy(
            update={
                "battles": tuple(one for one in ledger.battles if (one.planned.a, one.planned.b) not in unplayed),
                "replays": tuple(one for one in ledger.replays if tuple(sorted(one.policies)) not in unplayed),
            }
        )
        for ledger in ledgers
    ]


def unplayed_pairs(ledgers: Iterable[ShardLedger]) -> frozenset[Pair]:
    """Return the cells that one of an iteration's shards could not play whole."""
    return frozenset(cell.policies for ledger in ledgers for cell in ledger.unplayed)


def findings_sha256(ledgers: Sequence[ShardLedger]) -> str:
    """Return the hash of all battles and payoffs in an iteration's ledgers, in hexadecimal digits.

    It does not depend on what each attempt measures for itself, such as seconds and failed tries, nor on how battles
    are divided into shards. Every other value counts.
    """

    def findings() -> Iterator[Model]:
        yield from sorted((one for ledger in ledgers for one in ledger.battles), key=lambda record: record.planned)
        yield from sorted((one for ledger in ledgers for one in ledger.exact), key=lambda cell: cell.policies)

    digest = hashlib.sha256()
    for found in findings():
        digest.update(found.model_dump_json().encode() + b"\n")
    return digest.hexdigest()


def tally_of(policies: Sequence[PolicyId], records: Iterable[BattleRecord]) -> Tally:
    """Return the tally of ``records``, in the order of ``policies``. A pair with one battle counts as single.

    Raises:
        DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
    """
    return count_records(policies, records)[0]


Scores = Mapping[PlannedBattle, float]
"""Score of the cell's first policy by id, by battle."""


def count_records(
    policies: Sequence[PolicyId], records: Iterable[BattleRecord], *, waiting: Scores = MappingProxyType({})
) -> tuple[Tally, Scores]:
    """Return the tally of ``records``, in the order of ``policies``, and the battles that have no partner yet.

    ``waiting`` are battles that were counted before without their partners. A pair that becomes whole counts as a pair.

    Raises:
        DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
    """
    place = {policy: index for index, policy in enumerate(policies)}
    battles = dict(waiting)
    counted_now = []
    for record in records:
        if any(policy not in place for policy in record.policies):
            stranger = next(policy for policy in record.policies if policy not in place)
            raise DataError(
                f"the ledger holds a battle of {stranger!r}, which is not in the population {list(policies)}"
            )
        planned = record.planned
        if planned in battles:
            raise DataError(f"the ledgers hold {describe(planned)} twice; expected every battle once")
        score = 0.5 if record.winner is None else float(record.policies[record.winner] == planned.a)
        battles[planned] = score
        counted_now.append((place[planned.a], place[planned.b], score))
    alone: dict[PlannedBattle, float] = {}
    pairs = []
    for battle, score in battles.items():
        other = battles.get(PlannedBattle(battle.a, battle.b, battle.number ^ 1))
        if other is None:
            alone[battle] = score
        elif battle.number % 2 == 0:
            pairs.append((place[battle.a], place[battle.b], score, other))
    return _tally(len(policies), counted_now, pairs), alone


def _tally(
    num_policies: int,
    battles: Sequence[tuple[int, int, float]],
    pairs: Sequence[tuple[int, int, float, float]],
) -> Tally:
    """Return the tally of ``battles`` and ``pairs``: two policies' places, and the first one's score in each battle."""
    tally = Tally.nothing(num_policies)

    def add(table: Integers, first: Integers, second: Integers, count: NDArray[np.bool_]) -> None:
        np.add.at(table, (first[count], second[count]), 1)

    first, second, scores = _columns(battles, 1)
    total, (score,) = np.ones(len(first), dtype=bool), scores
    for i, j, won in ((first, second, 1.0), (second, first, 0.0)):
        add(tally.games, i, j, total)
        add(tally.draws, i, j, score == 0.5)  # noqa: PLR2004 - a draw
        add(tally.wins, i, j, score == won)
    first, second, (one, other) = _columns(pairs, 2)
    for i, j, mine, others in ((first, second, one, other), (second, first, 1.0 - one, 1.0 - other)):
        both = mine + others
        add(tally.won_both, i, j, both == 2.0)  # noqa: PLR2004 - two wins
        add(tally.won_and_drew, i, j, both == 1.5)  # noqa: PLR2004 - a win and a draw
        add(tally.split, i, j, (both == 1.0) & (mine != others))
        add(tally.drew_both, i, j, (both == 1.0) & (mine == others))
    return tally


def _columns(rows: Sequence[tuple[float, ...]], num_scores: int) -> tuple[Integers, Integers, Floats]:
    """Return the columns of rows of two places and ``num_scores`` scores."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 2 + num_scores).T
    return table[0].astype(np.int64), table[1].astype(np.int64), table[2:]


def describe(battle: PlannedBattle) -> str:
    """Return the battle in words, for errors."""
    return f"battle {battle.number} of {battle.a!r} against {battle.b!r}"


def for_purpose(records: Iterable[BattleRecord], purpose: Purpose) -> list[BattleRecord]:
    """Return the ``records`` of one purpose: no battle both chooses a policy and scores it."""
    return [record for record in records if record.purpose == purpose]
