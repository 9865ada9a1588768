"""Payoffs of tabular games: added up over the whole game tree, not sampled. Every pair once, by id.

Shards of evaluate divide the pairs that the matrix of the iteration before does not hold; solve puts them together.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.ledger import ExactCell, InteractionMatrix, ShardLedger

Pair = tuple[PolicyId, PolicyId]

_ADVICE = "remove the manifests of this iteration's evaluate shards and run them again"


def missing_pairs(policies: Iterable[PolicyId], matrix: InteractionMatrix | None) -> list[Pair]:
    """Return the pairs of ``policies`` that ``matrix`` has no payoff for, sorted by id.

    The same for every shard and retry: it depends on who is there, never on an order.
    """
    known = set(matrix.policies) if matrix is not None else set()
    return [pair for pair in combinations(sorted(policies), 2) if not known.issuperset(pair)]


def add_exact(
    matrix: InteractionMatrix | None, policies: Sequence[PolicyId], ledgers: Iterable[ShardLedger]
) -> InteractionMatrix:
    """Return the payoffs of ``policies``: those of ``matrix`` and, for every pair that it lacks, the ledgers'.

    Raises:
        DataError: a pair is missing, is there twice, or was not asked for; ``matrix`` counts battles instead.
    """
    if matrix is not None and matrix.payoffs is None:
        raise DataError("the interaction matrix counts battles; expected the payoffs of a tabular game")
    cells = [cell for ledger in ledgers for cell in ledger.exact]
    _check_asked_for(missing_pairs(policies, matrix), cells)
    place = {policy: index for index, policy in enumerate(policies)}
    payoffs = np.zeros((len(policies), len(policies)))
    if matrix is not None:
        old = [place[policy] for policy in matrix.policies]
        payoffs[np.ix_(old, old)] = np.array(matrix.payoffs).reshape(len(old), len(old))
    for cell in cells:
        first, second = (place[policy] for policy in cell.policies)
        payoffs[first, second], payoffs[second, first] = cell.payoff, -cell.payoff
    bare = InteractionMatrix.unplayed(policies)
    return InteractionMatrix(
        policies=bare.policies,
        wins=bare.wins,
        draws=bare.draws,
        games=bare.games,
        payoffs=tuple(tuple(row) for row in payoffs.tolist()),
    )


def _check_asked_for(asked: Sequence[Pair], cells: Sequence[ExactCell]) -> None:
    found = [cell.policies for cell in cells]
    for pairs, problem in (
        ({pair for pair, times in Counter(found).items() if times > 1}, "is there twice"),
        (set(found) - set(asked), "was not asked for"),
        (set(asked) - set(found), "is in no ledger"),
    ):
        if pairs:
            first, second = min(pairs)
            raise DataError(f"the payoff of {first!r} against {second!r} {problem}; {_ADVICE}")
