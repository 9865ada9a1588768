"""Finished battles as columns of numbers, and their counts.

The battles of a cell are numbered. Number n of the cell (a, b), a before b by id, belongs to pair n // 2, whose two
battles are played with the same two teams and the seats swapped: a sits in seat n % 2. An odd last one is alone.
Against a program that plays by websocket, the server draws teams and seats: its battles have such numbers too, and are
independent.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.tally import Integers, Tally

Pair = tuple[PolicyId, PolicyId]
"""Two policies, sorted by id."""

_Column: TypeAlias = NDArray[np.unsignedinteger[Any]]
_DRAW: Final = 2
"""Where a column of seats has none."""
_NO_TEAMS: Final = (2**64 - 1, 2**64 - 1)
"""Teams of a battle against a program."""
_WINNERS: Final = (0, 1, None)
_ROWS_AT_ONCE: Final = 1 << 16


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

    def __str__(self) -> str:
        return f"battle {self.number} of {self.a!r} against {self.b!r}"


class BattleRecord(NamedTuple):
    """One finished battle."""

    policies: tuple[PolicyId, PolicyId]
    """Policies by seat."""
    pair: int
    """Side-swapped pair within the cell."""
    seed: int
    """Seed of the battle, or of the policy's draws against a program."""
    teams: tuple[int, int] | None
    """Each seat's team: its number in the run's set, or the seed that made it. None against a program."""
    winner: int | None
    """Seat; None for a draw."""
    turns: int
    decisions: int
    """Decisions of both seats; against a program by websocket, of the policy."""

    @property
    def planned(self) -> PlannedBattle:
        """Which of its cell's battles this is."""
        first, second = self.policies
        if first < second:
            return PlannedBattle(first, second, 2 * self.pair)
        return PlannedBattle(second, first, 2 * self.pair + 1)

    @property
    def purpose(self) -> Purpose:
        """Its use where a policy is chosen and scored: one or the other."""
        return Purpose.of_pair(self.pair)


def smallest(values: ArrayLike) -> _Column:
    """Return ``values`` in the smallest type of unsigned integers that holds them.

    Raises:
        DataError: one is outside 0 to 2⁶⁴ − 1.
    """
    try:
        column = np.array(values, dtype=np.uint64)
    except OverflowError as error:
        raise DataError(f"a battle has a number outside 0 to 2⁶⁴ − 1: {error}") from error
    return column.astype(np.min_scalar_type(column.max(initial=0)))


@dataclass(frozen=True, slots=True, eq=False)
class Battles:
    """N finished battles by columns of shape (N,), each of the smallest unsigned integers that hold it."""

    policies: tuple[PolicyId, ...]
    """Ids that ``a`` and ``b`` are places in, sorted; some may have no battle."""
    seeds: _Column
    first_teams: _Column
    """By seat, as ``second_teams``; both 2⁶⁴ − 1 against a program."""
    second_teams: _Column
    a: _Column
    """Each cell's first policy."""
    b: _Column
    numbers: _Column
    """Which of its cell's battles each is."""
    winners: _Column
    """Seats; 2 for a draw."""
    turns: _Column
    decisions: _Column

    @classmethod
    def of(cls, records: Iterable[BattleRecord]) -> Self:
        """Return ``records`` in their order, which may be such columns already.

        Raises:
            DataError: a value is not one of a battle.
        """
        if isinstance(records, cls):
            return records
        held = list(records)
        policies = tuple(sorted({policy for record in held for policy in record.policies}))
        place = {policy: index for index, policy in enumerate(policies)}

        def row(one: BattleRecord) -> tuple[int, ...]:
            a, b, number = one.planned
            winner = _DRAW if one.winner is None else one.winner
            return one.seed, *(one.teams or _NO_TEAMS), place[a], place[b], number, winner, one.turns, one.decisions

        columns = zip(*map(row, held), strict=True) if held else [()] * len(COLUMNS)
        return cls.checked(policies, dict(zip(COLUMNS, map(smallest, columns), strict=True)), "the ledger")

    @classmethod
    def checked(cls, policies: tuple[PolicyId, ...], columns: dict[str, NDArray[Any]], source: str) -> Self:
        """Return the battles of ``columns`` by name, after checking every value.

        Raises:
            DataError: they are no battles; ``source`` names them.
        """
        size = columns["a"].size
        for name, column in columns.items():
            if column.dtype.kind != "u" or column.shape != (size,):
                raise DataError(f"{source}: {name} is {column.dtype} {column.shape}; expected {size} unsigned integers")
        if list(policies) != sorted(set(policies)):
            raise DataError(f"{source}: its policies are not sorted by id, each once")
        found = cls(policies, **columns)
        if max(found.a.max(initial=0), found.b.max(initial=0)) >= max(len(policies), 1):
            raise DataError(f"{source} has a battle of a policy beyond the {len(policies)} that it names")
        for row in np.flatnonzero(found.a >= found.b)[:1]:
            one, other = policies[found.a[row]], policies[found.b[row]]
            what = f"{one!r} is recorded against itself" if one == other else f"{one!r} is recorded before {other!r}"
            raise DataError(f"{source}: {what}; expected two different policies, sorted by id")
        for row in np.flatnonzero(found.winners > _DRAW)[:1]:
            raise DataError(f"{source}: {found.planned(row)} was won by seat {found.winners[row]}; expected 0, 1 or 2")
        return found

    @classmethod
    def joined(cls, parts: Iterable["Battles"]) -> Self:
        """Return the battles of all ``parts``, in their order."""
        held = [*parts, NO_BATTLES]
        policies = tuple(sorted({policy for part in held for policy in part.policies}))
        place = {policy: index for index, policy in enumerate(policies)}
        moved = [smallest([place[policy] for policy in part.policies]) for part in held]
        pieces = {name: [getattr(part, name) for part in held] for name in COLUMNS}
        for name in ("a", "b"):
            pieces[name] = [places[column] for places, column in zip(moved, pieces[name], strict=True)]
        return cls(policies, **{name: np.concatenate(each) for name, each in pieces.items()})

    def __len__(self) -> int:
        return len(self.a)

    def __iter__(self) -> Iterator[BattleRecord]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            columns = (getattr(self, name)[start : start + _ROWS_AT_ONCE].tolist() for name in COLUMNS)
            for seed, *teams, a, b, number, winner, turns, decisions in zip(*columns, strict=True):
                battle = PlannedBattle(self.policies[a], self.policies[b], number)
                drawn = None if (found := tuple(teams)) == _NO_TEAMS else found
                yield BattleRecord(battle.seats, battle.pair, seed, drawn, _WINNERS[winner], turns, decisions)

    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.intp]) -> "Battles":
        return Battles(self.policies, **{name: getattr(self, name)[rows] for name in COLUMNS})

    def planned(self, row: int) -> PlannedBattle:
        """Return which battle is in ``row``."""
        return PlannedBattle(self.policies[self.a[row]], self.policies[self.b[row]], int(self.numbers[row]))

    def scores(self) -> NDArray[np.float64]:
        """Return each score of its cell's first policy: 1, ½ or 0."""
        return np.where(self.winners == _DRAW, 0.5, self.winners == self.numbers % 2)

    def for_purpose(self, purpose: Purpose) -> "Battles":
        """Return the battles of one purpose: no battle both chooses a policy and scores it."""
        return self[self.numbers // 2 % 2 == (purpose == Purpose.SCORING)]

    def among(self, policies: Collection[PolicyId]) -> "Battles":
        """Return the battles whose two policies are both among ``policies``."""
        known = np.array([policy in policies for policy in self.policies], dtype=bool)
        return self[known[self.a] & known[self.b]]

    def outside(self, cells: Collection[Pair]) -> "Battles":
        """Return the battles of all cells but ``cells``."""
        place, size = {policy: index for index, policy in enumerate(self.policies)}, len(self.policies)
        left_out = [place[a] * size + place[b] for a, b in cells if a in place and b in place]
        return self[~np.isin(self.a.astype(np.int64) * size + self.b.astype(np.int64), left_out)]

    def in_order(self) -> "Battles":
        """Return the battles sorted by cell and number."""
        return self[np.lexsort((self.numbers, self.b, self.a))]

    def places(self, policies: Sequence[PolicyId]) -> tuple[Integers, Integers]:
        """Return each cell's two policies as places among ``policies``.

        Raises:
            DataError: one is not there.
        """
        place = {policy: index for index, policy in enumerate(policies)}
        places = np.array([place.get(policy, -1) for policy in self.policies], dtype=np.int64)
        for column in (self.a, self.b):
            for row in np.flatnonzero(places[column] < 0)[:1]:
                stranger = self.policies[column[row]]
                raise DataError(f"the ledger holds a battle of {stranger!r}, which is not among {list(policies)}")
        return places[self.a], places[self.b]


COLUMNS: Final = tuple(name for name in Battles.__slots__ if name != "policies")
"""Names of the columns, by falling size of an item."""
NO_BATTLES: Final = Battles.of(())


def tally_of(policies: Sequence[PolicyId], records: Iterable[BattleRecord]) -> Tally:
    """Return the tally of ``records``, in the order of ``policies``. A pair with one battle counts as single.

    Raises:
        DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
    """
    return count_battles(policies, Battles.of(records))[0]


def count_battles(
    policies: Sequence[PolicyId], battles: Battles, *, waiting: Battles = NO_BATTLES
) -> tuple[Tally, Battles]:
    """Return the tally of ``battles``, in the order of ``policies``, and the battles that have no partner yet.

    ``waiting`` are battles that were counted before without their partners. A pair that becomes whole counts as a pair.

    Raises:
        DataError: a battle names a policy that is not among ``policies``, or is recorded twice.
    """
    both = Battles.joined((waiting, battles)).in_order()
    same_cell = (both.a[1:] == both.a[:-1]) & (both.b[1:] == both.b[:-1])
    for row in np.flatnonzero(same_cell & (both.numbers[1:] == both.numbers[:-1]))[:1]:
        raise DataError(f"the ledgers hold {both.planned(row)} twice; expected every battle once")
    starts = same_cell & (both.numbers[:-1] % 2 == 0) & (both.numbers[1:] - both.numbers[:-1] == 1)
    first = np.flatnonzero(starts)
    alone = np.ones(len(both), dtype=bool)
    alone[first] = alone[first + 1] = False
    tally, (i, j), scores = Tally.nothing(len(policies)), both.places(policies), both.scores()
    before, (k, m) = battles.scores(), battles.places(policies)
    for one, other, won in ((k, m, 1.0), (m, k, 0.0)):
        np.add.at(tally.games, (one, other), 1)
        np.add.at(tally.draws, (one, other), before == 0.5)  # noqa: PLR2004 - a draw
        np.add.at(tally.wins, (one, other), before == won)
    i, j, mine, others = i[first], j[first], scores[first], scores[first + 1]
    for one, other, sums in ((i, j, mine + others), (j, i, 2.0 - mine - others)):
        np.add.at(tally.won_both, (one, other), sums == 2.0)  # noqa: PLR2004 - two wins
        np.add.at(tally.won_and_drew, (one, other), sums == 1.5)  # noqa: PLR2004 - a win and a draw
        np.add.at(tally.split, (one, other), (sums == 1.0) & (mine != others))
        np.add.at(tally.drew_both, (one, other), (sums == 1.0) & (mine == others))
    return tally, both[alone]
