"""One table that plays like a mixture of tables."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from nashdex.games.tabular.tree import GameTree, Table
from nashdex.games.tabular.values import mixed_plan


def mixed_table(tree: GameTree, tables: Sequence[Table] | Table, mixture: ArrayLike) -> Table:
    """Return the table equivalent to a mixture whose policy is drawn once per game (Kuhn 1953).

    In each state a policy's share is its weight times the probability that its own choices lead there. In a state that
    no policy of the mixture reaches, its share is its weight.
    """
    tables = np.asarray(tables, dtype=np.float64).reshape(-1, *tree.legal.shape)
    weights = np.asarray(mixture, dtype=np.float64)
    plan = mixed_plan(tree, tables, weights)
    reach = plan[tree.sequence_form.parent][:, None]
    unreached = (weights[:, None, None] * tables).sum(axis=0)
    table: Table = np.where(reach > 0, plan[:-2].reshape(tree.legal.shape), unreached)
    table /= table.sum(axis=1, keepdims=True)
    return table
