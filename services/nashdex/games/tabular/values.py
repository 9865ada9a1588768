"""Exact payoffs and best responses, from the sequence form. S, A, N as in ``games.tabular.tree``; K, M, N policies.

One population plays both seats of a game whose seats are drawn at random: A(π, σ) is the mean of π's payoff in either
seat. A is antisymmetric whatever the game, and the value of the symmetrised game is 0.

A *realization plan* is the probability of each sequence as far as its seat decides it; a mixture of policies mixes
plans, never tables.

Nothing here uses BLAS, whose order of summation depends on the processor: a run gives the same payoffs on every
machine, to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashdex.games.tabular.tree import GameTree, Table, one_hot

Floats = NDArray[np.float64]

_TIE = 1e-10
"""Actions that differ by less than this share of the largest payoff are equally good: rounding, also of the mixture
(``metagame.analysis.solving``), must not choose between them."""


@dataclass(frozen=True, slots=True)
class BestResponse:
    """A best response to fixed opponents, in both seats."""

    table: Table
    """Shape (S, A), deterministic; the first of equally good actions."""
    seat_values: tuple[float, float]
    """Its payoff as seat 0 and as seat 1, in the game's payoff units."""

    @property
    def value(self) -> float:
        """The mean over both seats."""
        return sum(self.seat_values) / 2

    @property
    def nash_conv(self) -> float:
        """The sum over both seats, where it answers a plan of both: NashConv, never below 0."""
        return max(0.0, sum(self.seat_values))


def realization_plans(tree: GameTree, tables: Sequence[Table] | Table) -> Floats:
    """Return the plan of each of K tables, shape (K, S · A + 2); the empty sequences, last, have probability 1."""
    tables = np.asarray(tables, dtype=np.float64).reshape(-1, *tree.legal.shape)
    form, num_policies = tree.sequence_form, len(tables)
    plans = np.ones((num_policies, tree.legal.size + 2))
    by_state = plans[:, :-2].reshape(tables.shape)
    for states in form.levels:
        by_state[:, states] = tables[:, states] * plans[:, form.parent[states], None]
    return plans


def first_seat_payoffs(tree: GameTree, first: Floats, second: Floats) -> Floats:
    """Return the payoffs to seat 0 of M plans in seat 0 against N in seat 1, shape (M, N)."""
    form = tree.sequence_form
    weighted, reached = first[:, form.leaves[:, 0]] * form.weights, second[:, form.leaves[:, 1]]
    payoffs = np.empty((len(first), len(second)))
    for row, at_leaves in zip(payoffs, weighted, strict=True):
        row[:] = (at_leaves * reached).sum(axis=1)
    return payoffs


def expected_payoffs(tree: GameTree, tables: Sequence[Table] | Table) -> Floats:
    """Return A of K policies against each other, the mean over both seatings: antisymmetric, of shape (K, K)."""
    plans = realization_plans(tree, tables)
    as_first = first_seat_payoffs(tree, plans, plans)
    return (as_first - as_first.T) / 2


def payoffs_between(tree: GameTree, rows: Sequence[Table] | Table, columns: Sequence[Table] | Table) -> Floats:
    """Return A of M policies against N others, the mean over both seatings, shape (M, N): part of a larger A."""
    row_plans, column_plans = realization_plans(tree, rows), realization_plans(tree, columns)
    as_first = first_seat_payoffs(tree, row_plans, column_plans)
    as_second = first_seat_payoffs(tree, column_plans, row_plans)
    return (as_first - as_second.T) / 2


def best_response(tree: GameTree, tables: Sequence[Table] | Table, mixture: ArrayLike) -> tuple[Table, float]:
    """Return the best response to a mixture of K tables, and its value max_π A(π, σ): half of σ's NashConv."""
    answer = best_response_to_plan(tree, mixed_plan(tree, tables, mixture))
    return answer.table, answer.value


def nash_conv(tree: GameTree, tables: Sequence[Table] | Table, mixture: ArrayLike) -> float:
    """Return what both seats together can gain by deviating from the mixture: twice its exploitability.

    Never below 0 (Lanctot et al. 2017, arXiv 1711.00832).
    """
    return best_response_to_plan(tree, mixed_plan(tree, tables, mixture)).nash_conv


def mixed_plan(tree: GameTree, tables: Sequence[Table] | Table, mixture: ArrayLike) -> Floats:
    """Return the realization plan of a mixture of K tables, shape (S · A + 2,)."""
    plan: Floats = (np.asarray(mixture, dtype=np.float64)[:, None] * realization_plans(tree, tables)).sum(axis=0)
    plan[-2:] = 1.0
    return plan


def sequence_payoffs(tree: GameTree, plan: Floats) -> Floats:
    """Return what each sequence gets from a plan of both seats at the leaves right after it, shape (S · A + 2,)."""
    form = tree.sequence_form
    first, second = form.leaves.T
    payoffs = np.bincount(first, form.weights * plan[second], len(plan)).astype(np.float64, copy=False)
    payoffs -= np.bincount(second, form.weights * plan[first], len(plan))
    return payoffs


def best_response_to_plan(tree: GameTree, plan: Floats) -> BestResponse:
    """Return the best response to a plan of both seats, shape (S · A + 2,), by backward induction.

    The value of a sequence is the payoff of its leaves plus the values of the states that follow it.
    """
    form, (num_states, num_actions) = tree.sequence_form, tree.legal.shape
    values = sequence_payoffs(tree, plan)
    by_state = values[:-2].reshape(tree.legal.shape)
    actions = np.zeros(num_states, dtype=np.int64)
    for states in reversed(form.levels):
        candidates = np.where(tree.legal[states], by_state[states], -np.inf)
        best = candidates.max(axis=1)
        actions[states] = (candidates >= best[:, None] - _TIE * tree.max_payoff).argmax(axis=1)
        values += np.bincount(form.parent[states], best, len(plan))
    return BestResponse(one_hot(actions, num_actions), (float(values[-2]), float(values[-1])))
