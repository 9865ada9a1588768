"""Tabular games solved whole: double oracle, and the value of a game."""

from collections.abc import Iterator

import numpy as np
from pydantic import NonNegativeFloat, PositiveInt
from scipy import sparse
from scipy.optimize import linprog

from nashdex.core.documents import Model
from nashdex.core.errors import DataError
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


def game_value(tree: GameTree) -> float:
    """Return the payoff to seat 0 when both seats play optimally, in the game's payoff units.

    Sequence form (Koller, Megiddo and von Stengel 1996, "Efficient computation of equilibria for extensive two-person
    games", section 4): find the second player's realization plan y that minimises the value of the first player's best
    response. Variables are y, the value of that response in each of the first player's states, and its total value.

    Raises:
        DataError: HiGHS finds no solution; payoffs that differ by many orders of magnitude can cause this.
    """
    form, (num_states, num_actions) = tree.sequence_form, tree.legal.shape
    empty = num_states * num_actions
    size = (empty + 2, empty + 2)
    payoffs = sparse.coo_array((form.weights, (form.leaves[:, 0], form.leaves[:, 1])), size).tocsr()
    # Constraints of a plan: a state's sequences sum to the one that leads there; the empty ones, in a last row, to 1.
    state, action = np.nonzero(tree.legal)
    rows = np.concatenate([state, np.arange(num_states), [num_states, num_states]])
    columns = np.concatenate([state * num_actions + action, form.parent, [empty, empty + 1]])
    signs = np.concatenate([np.ones(len(state)), -np.ones(num_states), [1.0, 1.0]])
    plans = sparse.coo_array((signs, (rows, columns)), (num_states + 1, empty + 2)).tocsr()

    states, sequences = [], []
    for seat in range(2):
        decides = tree.state_player == seat
        states.append(np.append(np.flatnonzero(decides), num_states))
        sequences.append(np.append(np.flatnonzero((tree.legal & decides[:, None]).ravel()), empty + seat))
    first, second = (plans[rows][:, columns] for rows, columns in zip(states, sequences, strict=True))
    num_plan, num_values = len(sequences[1]), len(states[0])
    # A sequence is worth its payoff plus the values of the next states; its state is worth at least that.
    responses = sparse.hstack([payoffs[sequences[0]][:, sequences[1]], -first.T])
    is_plan = sparse.hstack([second, sparse.csr_array((len(states[1]), num_values))])
    bounds: list[tuple[float | None, float | None]] = [(0.0, None)] * num_plan + [(None, None)] * num_values
    answer = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
        c=np.eye(1, num_plan + num_values, num_plan + num_values - 1)[0],
        A_ub=responses,
        b_ub=np.zeros(len(sequences[0])),
        A_eq=is_plan,
        b_eq=np.eye(1, len(states[1]), len(states[1]) - 1)[0],
        bounds=bounds,
        method="highs",
    )
    if answer.status != 0:
        raise DataError(f"HiGHS found no value of {tree.format}: {answer.message}")
    return float(answer.fun)
