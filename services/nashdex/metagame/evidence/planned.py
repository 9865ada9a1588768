"""Which battles are still to be played, and whether the ledgers hold exactly those."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import Integers
from nashdex.metagame.evidence.ledger import Pair, PlannedBattle, ShardLedger, describe, unplayed_pairs

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


def check_played_as_planned(planned: Sequence[PlannedBattle], ledgers: Iterable[ShardLedger]) -> None:
    """Check that the ledgers hold every planned battle once and nothing else, beside the cells that are ``unplayed``.

    Raises:
        DataError: a battle is missing, doubled or was not planned; names it and says what to do.
    """
    ledgers = tuple(ledgers)
    unplayed = unplayed_pairs(ledgers)
    planned = [battle for battle in planned if (battle.a, battle.b) not in unplayed]
    played = Counter(record.planned for ledger in ledgers for record in ledger.battles)
    doubled = [battle for battle, times in played.items() if times > 1]
    missing = [battle for battle in planned if battle not in played]
    unplanned = sorted(played.keys() - set(planned))
    for battles, problem in (
        (doubled, "recorded more than once"),
        (unplanned, "recorded but was not planned"),
        (missing, "planned but in no ledger"),
    ):
        if battles:
            others = f" (and {len(battles) - 1} more)" if len(battles) > 1 else ""
            raise DataError(f"{describe(battles[0])}{others} is {problem}; {ADVICE}")
