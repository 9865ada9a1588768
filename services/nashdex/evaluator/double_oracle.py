"""Exact double oracle with two populations (McMahan, Gordon and Blum 2003), to compare runs with theory.

A run has one population that plays both seats. Here each seat has its own, as in the literature's iteration counts.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import NonNegativeFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.games.tabular.tree import GameTree, Table
from nashdex.games.tabular.values import best_response_to_plan, first_seat_payoffs, realization_plans
from nashdex.metagame.solvers.nash import nash_of_two

_CONVERGED = 1e-9
"""A NashConv below this share of the largest payoff is 0 up to rounding."""


class DoubleOracleIteration(Model):
    """One iteration, with the sizes of the populations that its mixtures are over."""

    iteration: PositiveInt
    row_policies: PositiveInt
    column_policies: PositiveInt
    value: float
    """The restricted game's value to the first player."""
    nash_conv: NonNegativeFloat
    """What both players together can gain by deviating from the restricted game's equilibrium."""
    converged: bool


def double_oracle(tree: GameTree, initial: Table, num_iterations: int) -> Iterator[DoubleOracleIteration]:
    """Yield iterations until one has converged, or ``num_iterations``; both populations begin with ``initial``.

    Each solves the restricted game by ``nash`` and adds each player's best response to it, unless it is a member.
    """
    rows, columns = [initial], [initial]
    is_first = np.append(np.repeat(tree.state_player == 0, tree.num_actions), [True, False])
    for iteration in range(1, num_iterations + 1):
        row_plans, column_plans = realization_plans(tree, rows), realization_plans(tree, columns)
        solution = nash_of_two(first_seat_payoffs(tree, row_plans, column_plans))
        plan = np.where(is_first, solution.row @ row_plans, solution.column @ column_plans)
        plan[-2:] = 1.0
        answer = best_response_to_plan(tree, plan)
        nash_conv = answer.nash_conv
        converged = nash_conv <= _CONVERGED * tree.max_payoff
        yield DoubleOracleIteration(
            iteration=iteration,
            row_policies=len(rows),
            column_policies=len(columns),
            value=solution.value,
            nash_conv=nash_conv,
            converged=converged,
        )
        if converged:
            return
        for seat, population in enumerate((rows, columns)):
            states = tree.state_player == seat
            if not any((answer.table[states] == member[states]).all() for member in population):
                population.append(answer.table)
