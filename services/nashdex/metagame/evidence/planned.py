"""Which battles are still to be played, and whether the ledgers hold exactly those."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.battles import Battles, Pair, PlannedBattle
from nashdex.metagame.evidence.estimates import Integers
from nashdex.metagame.evidence.ledger import ShardLedger, unplayed_pairs

ADVICE = "remove the manifests of this iteration's evaluate shards and run them again"

_FEWEST_PAIRS = 2
"""Fewest pairs of a cell: one to select a policy, one to score it."""


@dataclass(frozen=True, slots=True)
class Demand:
    """How many battles the cells of a payoff matrix are to have."""

    battles_per_cell: int
    """Total number of battles of each cell."""
    further: Mapping[Pair, int] = field(default_factory=dict)
    """Battles that single cells get beyond those they have."""
    target: Mapping[PolicyId, float] | None = None
    """An exploiter's opponents, and how often each is met. Only cells between one of them and another policy are
    played then, each with its opponent's share of ``battles_per_cell`` in whole side-swapped pairs, at least two."""
    before: frozenset[PolicyId] = frozenset()
    """Members of earlier iterations. Where a new policy meets only some, they play no more among themselves."""
    met: frozenset[PolicyId] | None = None
    """Members that a new policy meets under sparse matchmaking; None: all."""

    def first_battles(self, a: PolicyId, b: PolicyId) -> int:
        """Return how many battles the cell of ``a`` and ``b`` is to have before further ones."""
        if self.target is None:
            return self.battles_per_cell if self._meets(a, b) else 0
        if (a in self.target) == (b in self.target):
            return 0
        if {a, b} & self.before:
            return 0
        share = self.target[a] if a in self.target else self.target[b]
        return 2 * max(_FEWEST_PAIRS, round(share * self.battles_per_cell / 2))

    def _meets(self, a: PolicyId, b: PolicyId) -> bool:
        """Say whether the cell gets its first battles: under sparse matchmaking, cells of a new policy, not all."""
        old = {a, b} & self.before
        return self.met is None or not old or (len(old) == 1 and old <= self.met)


class PlannedCell(NamedTuple):
    """The battles that a cell still lacks."""

    a: PolicyId
    b: PolicyId
    numbers: range


def planned_cells(members: Sequence[PolicyId], games: Integers, demand: Demand) -> list[PlannedCell]:
    """Return the cells that lack battles, with the number of missing battles, in the order of ids.

    Depends on the members and on the counts of earlier iterations, never on an order or on this iteration's own
    attempts: every shard and every retry computes the same plan.

    ``games`` are the battles so far, shape (K, K) in the order of ``members``, which are sorted by id.
    """
    # No cell gets more first battles than this, so the full ones need no look; an exploiter's demand has few cells.
    most = demand.battles_per_cell if demand.target is None else np.inf
    may_lack = games < most
    place = {member: index for index, member in enumerate(members)}
    for a, b in demand.further:
        if a in place and b in place:
            may_lack[place[a], place[b]] = True
    cells = []
    for i, j in np.argwhere(np.triu(may_lack, 1)).tolist():
        a, b, played = members[i], members[j], int(games[i, j])
        wanted = max(demand.first_battles(a, b), played + demand.further.get((a, b), 0))
        if played < wanted:
            cells.append(PlannedCell(a, b, range(played, wanted)))
    return cells


def battles_of(cells: Iterable[PlannedCell]) -> list[PlannedBattle]:
    """Return the battles of ``cells``, one after another: what shards divide among themselves."""
    return [PlannedBattle(cell.a, cell.b, number) for cell in cells for number in cell.numbers]


def check_played_as_planned(cells: Iterable[PlannedCell], ledgers: Sequence[ShardLedger]) -> None:
    """Check that the ledgers hold all battles of ``cells`` once and no other, beside the cells that are ``unplayed``.

    Raises:
        DataError: a battle is missing, doubled or was not planned; names it and says what to do.
    """
    unplayed = unplayed_pairs(ledgers)
    cells = [cell for cell in cells if (cell.a, cell.b) not in unplayed]
    played = Battles.joined(ledger.battles for ledger in ledgers).in_order()
    if _hold_exactly(cells, played):
        return
    times, planned = Counter(record.planned for record in played), set(battles_of(cells))
    for battles, problem in (
        ([battle for battle, number in times.items() if number > 1], "recorded more than once"),
        (sorted(times.keys() - planned), "recorded but was not planned"),
        (sorted(planned - times.keys()), "planned but in no ledger"),
    ):
        if battles:
            others = f" (and {len(battles) - 1} more)" if len(battles) > 1 else ""
            raise DataError(f"{battles[0]}{others} is {problem}; {ADVICE}")


def _hold_exactly(cells: Sequence[PlannedCell], played: Battles) -> bool:
    """Say whether ``played``, in order, are the battles of ``cells``, in order. Makes no object for a battle."""
    place = {policy: index for index, policy in enumerate(played.policies)}
    rows = [(place.get(cell.a, -1), place.get(cell.b, -1), cell.numbers.start, len(cell.numbers)) for cell in cells]
    a, b, first, sizes = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    numbers = np.arange(sizes.sum()) - np.repeat(sizes.cumsum() - sizes - first, sizes)
    columns = (np.repeat(a, sizes), played.a), (np.repeat(b, sizes), played.b), (numbers, played.numbers)
    return all(np.array_equal(planned, found) for planned, found in columns)
