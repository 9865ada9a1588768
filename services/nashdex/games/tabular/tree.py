"""A two-player zero-sum game written down whole, as arrays.

S information states of both seats, A actions, F features, N nodes, B branches, T terminal nodes.

A *table* is a policy for both seats: float64 of shape (S, A), the probability of each action in each information state,
0 if it is illegal. A *sequence* is one seat's play so far, given by its last information state and action: s · A + a.
The two empty sequences, S · A + seat, follow these S · A. (Sequence form: von Stengel 1996, "Efficient computation of
behavior strategies".)
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.games.space import NUM_SEATS

Table = NDArray[np.float64]

_SUM_TOLERANCE = 1e-9
"""Rounding error that a distribution's sum may have."""


@dataclass(frozen=True, slots=True)
class SequenceForm:
    """The tree in terms of each seat's own decisions."""

    parent: NDArray[np.int64]
    """Shape (S,): the sequence that leads to each information state."""
    levels: tuple[NDArray[np.int64], ...]
    """Information states by the number of earlier decisions of their seat."""
    leaves: NDArray[np.int64]
    """Shape (T, 2): each seat's last sequence before each terminal node."""
    weights: NDArray[np.float64]
    """Shape (T,): payoff to seat 0 times the probability that chance allows the node."""


@dataclass(frozen=True, eq=False)
class GameTree:
    """A zero-sum game of two seats with perfect recall. The first node is the root."""

    format: str
    """The name that settings use."""
    action_names: tuple[str, ...]
    state_names: tuple[str, ...]
    state_player: NDArray[np.int8]
    """Shape (S,): the seat that decides."""
    legal: NDArray[np.bool_]
    """Shape (S, A); never all false."""
    features: NDArray[np.float32]
    """Shape (S, F): the seat's information, as input for networks."""
    node_state: NDArray[np.int64]
    """Shape (N,): the information state of a decision; −1 at chance's and terminal nodes."""
    children: NDArray[np.int64]
    """Shape (N, B): the node after each action, or after each outcome of chance; −1 where there is none. Children have
    larger numbers than their parents."""
    chance: NDArray[np.float64]
    """Shape (N, B): the probability of each outcome of chance; 0 at other nodes."""
    payoff: NDArray[np.float64]
    """Shape (N,): to seat 0 at terminal nodes, 0 elsewhere. Seat 1 gets its negative."""

    @property
    def num_states(self) -> int:
        """S: the information states of both seats."""
        return len(self.state_names)

    @property
    def num_actions(self) -> int:
        """A: the largest number of actions anywhere."""
        return len(self.action_names)

    @cached_property
    def max_payoff(self) -> float:
        """The largest payoff of either seat; 1 in a game whose payoffs are all 0."""
        return float(np.abs(self.payoff).max()) or 1.0

    @cached_property
    def is_terminal(self) -> NDArray[np.bool_]:
        """Shape (N,)."""
        return np.asarray((self.children < 0).all(axis=1))

    @cached_property
    def version(self) -> str:
        """12 hex digits over rules and payoffs: two trees of equal version are the same game."""
        digest = hashlib.sha256(repr((self.format, self.action_names, self.state_names)).encode())
        arrays = (self.state_player, self.legal, self.node_state, self.children, self.chance, self.payoff)
        for array in (*arrays, self.features):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:12]

    @cached_property
    def sequence_form(self) -> SequenceForm:
        """The tree in terms of each seat's own decisions."""
        num_states, num_actions = self.legal.shape
        empty = num_states * num_actions
        parent = np.full(num_states, -1)
        depth = np.zeros(num_states, dtype=np.int64)
        last: list[tuple[int, int]] = [(empty, empty + 1)] * len(self.node_state)
        reach = [1.0] * len(self.node_state)
        node_state, player = self.node_state.tolist(), self.state_player.tolist()
        for node, children in enumerate(self.children.tolist()):
            state = node_state[node]
            if state >= 0:
                seat = player[state]
                before = last[node][seat]
                assert parent[state] in {-1, before}, "a seat forgets its own play: the game has no perfect recall"
                if parent[state] < 0:
                    parent[state] = before
                    depth[state] = depth[before // num_actions] + 1 if before < empty else 0
            for branch, child in enumerate(children):
                if child < 0:
                    continue
                reach[child] = reach[node] * (1.0 if state >= 0 else float(self.chance[node, branch]))
                sequence = state * num_actions + branch
                if state < 0:
                    last[child] = last[node]
                elif seat == 0:
                    last[child] = (sequence, last[node][1])
                else:
                    last[child] = (last[node][0], sequence)
        terminal = np.flatnonzero(self.is_terminal)
        return SequenceForm(
            parent=parent,
            levels=tuple(np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)),
            leaves=np.array(last, dtype=np.int64).reshape(-1, NUM_SEATS)[terminal],
            weights=np.array(reach)[terminal] * self.payoff[terminal],
        )


def uniform_table(tree: GameTree) -> Table:
    """Return the table that plays all legal actions with equal probability."""
    table: Table = tree.legal / tree.legal.sum(axis=1, keepdims=True)
    return table


def one_hot(actions: NDArray[np.int64], num_actions: int) -> Table:
    """Return the table that plays ``actions``, one for each state, of shape (S,)."""
    return np.eye(num_actions)[actions]


def check_table(tree: GameTree, table: Table, source: str) -> None:
    """Raise DataError, naming ``source``, unless ``table`` is a policy of ``tree``."""
    if table.shape != tree.legal.shape:
        raise DataError(
            f"{source} is of shape {table.shape}; {tree.format} has {tree.num_states} information states and "
            f"{tree.num_actions} actions, so expected {tree.legal.shape}"
        )
    wrong = ~np.isfinite(table) | (table < 0) | ((table != 0) & ~tree.legal)
    sums = np.where(wrong, 0.0, table).sum(axis=1)
    bad = np.flatnonzero(wrong.any(axis=1) | (np.abs(sums - 1.0) > _SUM_TOLERANCE))
    if len(bad):
        state = bad[0]
        raise DataError(
            f"{source} is not a policy: in state {tree.state_names[state]!r} it plays {table[state].tolist()}; "
            f"expected probabilities that sum to 1, 0 for illegal actions (legal: {tree.legal[state].tolist()})"
        )
