"""Matrix games as trees: seat 0 chooses a row; seat 1 chooses a column without seeing it."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import model_validator

from nashdex.core.documents import Document
from nashdex.games.tabular.tree import GameTree

MAX_ACTIONS: Final = 100
"""Limit for each seat, because a tree has a node for each pair of actions."""


class MatrixDocument(Document):
    """A zero-sum matrix game as a run stores it, in the form that ``nashdex solve`` reads."""

    row_policies: tuple[str, ...]
    column_policies: tuple[str, ...]
    payoffs: tuple[tuple[float, ...], ...]
    """Payoffs to the row player."""

    @model_validator(mode="after")
    def _names_fit(self) -> "MatrixDocument":
        sizes = {len(row) for row in self.payoffs}
        if not self.row_policies or len(self.payoffs) != len(self.row_policies) or sizes != {len(self.column_policies)}:
            raise ValueError(
                "payoffs needs one row per entry of row_policies and one column per entry of column_policies"
            )
        return self


def matrix_tree(document: MatrixDocument, name: str = "matrix") -> GameTree:
    """Return the tree of a matrix game of R rows and C columns: two information states, one for each seat.

    ``name`` is the format's.
    """
    payoffs = np.array(document.payoffs, dtype=np.float64)
    num_rows, num_columns = payoffs.shape
    num_actions = max(num_rows, num_columns)
    # The root, then a node for each row, then one for each cell.
    children = np.full((1 + num_rows + payoffs.size, num_actions), -1, dtype=np.int64)
    children[0, :num_rows] = 1 + np.arange(num_rows)
    children[1 : 1 + num_rows, :num_columns] = 1 + num_rows + np.arange(payoffs.size).reshape(payoffs.shape)
    node_state = np.full(len(children), -1, dtype=np.int64)
    node_state[0], node_state[1 : 1 + num_rows] = 0, 1
    actions = np.arange(num_actions)
    return GameTree(
        format=name,
        action_names=_action_names(document.row_policies, document.column_policies),
        state_names=("row player", "column player"),
        state_player=np.array([0, 1], dtype=np.int8),
        legal=np.stack([actions < num_rows, actions < num_columns]),
        features=np.eye(2, dtype=np.float32),
        node_state=node_state,
        children=children,
        chance=np.zeros(children.shape),
        payoff=np.concatenate([np.zeros(1 + num_rows), payoffs.ravel()]),
    )


def _action_names(rows: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each action: the row's, the column's, or both where they differ."""
    num_actions = max(len(rows), len(columns))
    names = [dict.fromkeys((*rows[i : i + 1], *columns[i : i + 1])) for i in range(num_actions)]
    return tuple(" or ".join(pair) for pair in names)
