"""Equilibria of many draws of a large game, from the few columns that they need. K policies, D draws.

An equilibrium of a large population plays few policies, and whether another one could join shows in its payoffs against
these alone. So each draw is solved among candidates. Policies that do not lose against the solution become candidates
too, until there are none (a double oracle: McMahan, Gordon and Blum 2003, "Planning in the presence of cost functions
controlled by an adversary"). A solution against which all others lose is an equilibrium of the whole game. It is what
``nash`` finds if it is the only one, as in draws from a posterior; some linear programs are imprecise (10⁻⁶).
"""

from collections.abc import Callable, Iterable

import numpy as np

from nashdex.metagame.equilibria import Floats, symmetric_equilibrium
from nashdex.metagame.evidence.estimates import DrawnColumns

_STRICT_LOSS = 1e-9
"""In score: a policy that loses more than this is not played in any equilibrium."""
_MOST_ADDED = 8
"""Candidates that a draw gets at once: those that gain most."""
_MOST_COLUMNS = 1000
"""Columns that are drawn. A population whose draws play more policies is solved in blocks of whole draws."""


def nash_of_columns(
    columns: DrawnColumns, first: Iterable[int], num_policies: int, tick: Callable[[], None]
) -> Floats | None:
    """Return the equilibrium of each draw, shape (D, K).

    Args:
        columns: the draws.
        first: places of the first candidates.
        num_policies: K.
        tick: called once a draw, and may raise to stop.

    Returns:
        None where the draws together play too many policies to draw their columns.
    """
    strategies = np.zeros((columns.num_draws, num_policies))
    start = sorted(first)
    for draw in range(columns.num_draws):
        members = start
        while True:
            if columns.num_drawn > _MOST_COLUMNS:
                return None
            payoffs = np.stack([columns[member][draw] for member in members], axis=1)
            found = symmetric_equilibrium(payoffs[members])
            gains = payoffs @ found.row
            gains[members] = -np.inf
            joining = np.flatnonzero(gains > -_STRICT_LOSS)
            if not len(joining):
                break
            best = joining[np.argsort(-gains[joining], kind="stable")[:_MOST_ADDED]]
            members = sorted({*members, *best.tolist()})
        strategies[draw, members] = found.row
        tick()
    return strategies
