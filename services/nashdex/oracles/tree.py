"""A mixture of opponents in a game whose tree is known. S information states, A actions, K opponents."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.tabular.tree import GameTree, Table
from nashdex.games.tabular.values import best_response, payoffs_between
from nashdex.policies.tables import load_table
from nashdex.store.protocol import ObjectStore


@dataclass(frozen=True)
class TreeOpponents:
    """Opponents as tables, and how often each is met."""

    tree: GameTree
    tables: NDArray[np.float64]
    """(K, S, A)."""
    mixture: NDArray[np.float64]
    """(K,), sums to 1."""

    def best_response(self) -> tuple[Table, float]:
        """Return the exact best response, shape (S, A), and its payoff a game."""
        return best_response(self.tree, self.tables, self.mixture)

    def payoff(self, table: Table) -> float:
        """Return what ``table`` (S, A) gets from the mixture, a game, as the mean over both seats."""
        return float((payoffs_between(self.tree, table[None], self.tables)[0] * self.mixture).sum())


def tree_opponents(store: ObjectStore, tree: GameTree, opponents: Mapping[PolicyId, float]) -> TreeOpponents:
    """Return the opponents of a plan.

    Raises:
        DataError: a policy is missing, altered or of another game.
    """
    policies = sorted(opponents)
    tables = np.stack([load_table(store, policy, tree) for policy in policies])
    mixture = np.array([opponents[policy] for policy in policies])
    return TreeOpponents(tree, tables, mixture / mixture.sum())
