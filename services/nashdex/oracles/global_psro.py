"""Global PSRO in games whose tree is known: the best response that helps the whole population most.

A best response to the meta-strategy of the restricted game may add little against policies outside the population.
Global PSRO (Wang et al. 2026, arXiv 2605.28273) trains best responses to several mixtures, and adds the one after which
the population exploitability is lowest: PE(Π) = min over mixtures σ of Π of max_π A(π, σ).

Here the best responses and PE are exact. PE is a linear program over the mixture and the values of the best response's
information states (Koller, Megiddo and von Stengel 1994).

S information states, A actions, K policies, Q = S · A + 2 sequences.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from nashdex.core.errors import TryAgainError
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.games.space import NUM_SEATS
from nashdex.games.tabular.tree import GameTree, Table
from nashdex.games.tabular.values import best_response, realization_plans, sequence_payoffs
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.tree import tree_opponents
from nashdex.settings.oracles import GlobalPsroSettings
from nashdex.telemetry.progress import Progress

_TIE = 1e-9
"""Candidates whose PE differs by less than this share of the largest payoff are equally good: the first is taken."""


@dataclass(frozen=True)
class LeastExploitable:
    """The mixture of a population that a best response gains least against."""

    mixture: NDArray[np.float64]
    """Shape (K,)."""
    exploitability: float
    """PE, in the game's payoff units a game, as the mean over both seats."""


class PopulationExploitability:
    """Computes PE of populations of one game."""

    def __init__(self, tree: GameTree) -> None:
        self._tree = tree
        (num_states, num_actions), form = tree.legal.shape, tree.sequence_form
        num_sequences, num_values = num_states * num_actions + NUM_SEATS, num_states + NUM_SEATS
        follows = coo_array((np.ones(num_states), (form.parent, np.arange(num_states))), (num_sequences, num_values))
        owner = np.append(np.repeat(np.arange(num_states), num_actions), [num_states, num_states + 1])
        owns = coo_array((np.ones(num_sequences), (np.arange(num_sequences), owner)), (num_sequences, num_values))
        self._sequences = np.flatnonzero(np.append(tree.legal.ravel(), [True] * NUM_SEATS))
        # Payoffs of a sequence, plus the values of the states that follow it, less the value of its own state, are ≤ 0.
        self._values = (csr_array(follows) - csr_array(owns))[self._sequences]

    def payoffs_against(self, table: Table) -> NDArray[np.float64]:
        """Return what each sequence gets from ``table`` (S, A) where the battle ends right after it, shape (Q,)."""
        return sequence_payoffs(self._tree, realization_plans(self._tree, table)[0])

    def least(self, payoffs: NDArray[np.float64]) -> LeastExploitable:
        """Return the least exploitable mixture of a population, from ``payoffs_against`` each policy, shape (K, Q).

        Raises:
            TryAgainError: the linear program has no solution, which only rounding explains.
        """
        num_policies, num_values = len(payoffs), self._values.shape[1]
        costs = np.zeros(num_policies + num_values)
        costs[-NUM_SEATS:] = 1 / NUM_SEATS
        is_policy = csr_array(np.append(np.ones(num_policies), np.zeros(num_values))[None])
        found = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
            costs,
            A_ub=hstack([csr_array(payoffs.T[self._sequences]), self._values], format="csr"),
            b_ub=np.zeros(len(self._sequences)),
            A_eq=is_policy,
            b_eq=[1.0],
            bounds=[(0, None)] * num_policies + [(None, None)] * num_values,
            method="highs",
        )
        if found.x is None:
            raise TryAgainError(f"the population's exploitability could not be computed: {found.message}")
        mixture = np.clip(found.x[:num_policies], 0, None)
        return LeastExploitable(mixture / mixture.sum(), max(0.0, found.fun))

    def least_with(self, payoffs: NDArray[np.float64], table: Table) -> float:
        """Return PE of the population with one more policy, ``table`` (S, A)."""
        return self.least(np.vstack([payoffs, self.payoffs_against(table)])).exploitability


def train(task: Task, settings: GlobalPsroSettings) -> Trained:
    """Return the candidate after which the population exploitability is lowest."""
    tree, members = task.tree, [entry.id for entry in task.plan.population.policies if not entry.retired]
    tables = tree_opponents(task.store, tree, dict.fromkeys(members, 1.0)).tables
    exploitability = PopulationExploitability(tree)
    payoffs = np.stack([exploitability.payoffs_against(table) for table in tables])
    opponents = task.opponents_in_tree()
    best, best_response_value = opponents.best_response()
    lowest = exploitability.least_with(payoffs, best)
    with Progress(StepName.TRAIN, task.shard, settings.num_candidates, "candidates") as progress:
        progress.advance(1)
        for mixture in _mixtures(exploitability.least(payoffs).mixture, settings.num_candidates - 1, task.seed):
            check_stop()
            candidate, _ = best_response(tree, tables, mixture)
            found = exploitability.least_with(payoffs, candidate)
            if found < lowest - _TIE * tree.max_payoff:
                best, lowest = candidate, found
            progress.advance(1)
    return Trained(
        policy=best,
        summary={
            "value": opponents.payoff(best),
            "best_response_value": best_response_value,
            "population_exploitability": lowest,
        },
    )


def _mixtures(least_exploitable: NDArray[np.float64], number: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield ``number`` mixtures of the population, shape (K,): the least exploitable one, then random ones."""
    rng = np.random.default_rng(seed)
    for place in range(number):
        yield rng.dirichlet(np.ones(len(least_exploitable))) if place else least_exploitable
