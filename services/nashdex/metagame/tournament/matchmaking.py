"""Sparse matchmaking: which cells a large population plays, so that battles do not grow with all of its members.

A new policy meets the members that decide its place, at most ``num_opponents``: those that it was trained against, the
anchors, its parent, and then those that the meta-strategy plays in most draws. As many cells between members are played
later: those of the largest *contest* (``allocation``), (s_i + s_j)² times the variance of the
imputed payoff p (1 − p) / 2, with s the share of posterior draws that play the policy. It is 0 for cells
of two policies that no draw plays.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import Integers
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH

Cells = list[tuple[PolicyId, PolicyId]]


def deciding_opponents(
    population: Population,
    answered: Mapping[PolicyId, float],
    learner: str,
    support: Mapping[PolicyId, float],
    ratings: Mapping[str, float],
    *,
    num_opponents: int,
) -> tuple[PolicyId, ...] | None:
    """Return the members that a new policy meets, by id; None where it meets all.

    ``population`` are the members before the policy joins, ``answered`` is the mixture that it is scored against,
    ``learner`` its parent, and ``support`` the share of posterior draws whose mixture plays each member.
    """
    if len(population.ids) <= num_opponents:
        return None
    anchors = {entry.id for entry in population.policies if entry.is_anchor}

    def importance(policy: PolicyId) -> tuple[float, bool, bool, float, float, PolicyId]:
        first = (-answered.get(policy, 0.0), policy not in anchors, policy != learner)
        return *first, -support.get(policy, 0.0), -ratings.get(policy, -np.inf), policy

    return tuple(sorted(sorted(population.ids, key=importance)[:num_opponents]))


def contested_unplayed_cells(
    policies: Sequence[PolicyId],
    games: Integers,
    support: Mapping[PolicyId, float],
    ratings: Mapping[str, float],
    *,
    num_cells: int,
) -> Cells:
    """Return the unplayed cells between members that matter most to the mixture, in the order of ids.

    ``games`` are the battles so far, shape (K, K), and ``support`` is the share of posterior draws whose mixture plays
    each policy. The result does not depend on the order of ``policies``.
    """
    order = sorted(range(len(policies)), key=policies.__getitem__)
    names = [policies[place] for place in order]
    played = np.array([support[name] for name in names])
    predicted = expected_scores_of(np.array([ratings[name] for name in names]) / ELO_PER_STRENGTH)
    # Processors differ in the last bits.
    contest = ((played[:, None] + played[None, :]) ** 2 * predicted * (1 - predicted) / 2).round(12)
    rows, columns = np.nonzero(np.triu((games[np.ix_(order, order)] == 0) & (contest > 0), 1))
    best = np.argsort(-contest[rows, columns], kind="stable")[:num_cells]
    return sorted((names[rows[place]], names[columns[place]]) for place in best)
