"""OpenSpiel's games as trees."""

from typing import TYPE_CHECKING

import numpy as np

from nashdex.core.extras import required
from nashdex.games.tabular.tree import GameTree

if TYPE_CHECKING:
    import pyspiel


def openspiel_tree(name: str, game: str | None = None) -> GameTree:
    """Return the tree of one of OpenSpiel's games, small enough to be walked.

    ``game`` is OpenSpiel's name of it, with parameters if any, such as ``leduc_poker(players=2)``; by default ``name``.
    """
    pyspiel = required("pyspiel", extra="tabular", needed_by=f"the game {name}")
    return _Enumeration(pyspiel.load_game(game or name)).tree(name)


class _Enumeration:
    """Walks a game once, depth first, and numbers its nodes and information states."""

    def __init__(self, game: "pyspiel.Game") -> None:
        self._game = game
        self._states: dict[str, int] = {}
        self._state_player: list[int] = []
        self._legal: list[list[int]] = []
        self._features: list[list[float]] = []
        self._action_names: dict[int, str] = {}
        self._node_state: list[int] = []
        self._branches: list[list[tuple[int, int, float]]] = []
        """For each node: branch, child and the probability that chance takes it."""
        self._payoff: list[float] = []
        self._visit(game.new_initial_state())

    def tree(self, name: str) -> GameTree:
        """Return the enumerated tree."""
        num_actions = self._game.num_distinct_actions()
        num_branches = max(num_actions, 1 + max(branch for row in self._branches for branch, _, _ in row))
        children = np.full((len(self._branches), num_branches), -1, dtype=np.int64)
        chance = np.zeros(children.shape)
        for node, row in enumerate(self._branches):
            for branch, child, probability in row:
                children[node, branch] = child
                chance[node, branch] = probability
        legal = np.zeros((len(self._states), num_actions), dtype=np.bool_)
        for state, actions in enumerate(self._legal):
            legal[state, actions] = True
        return GameTree(
            format=name,
            action_names=tuple(self._action_names[action] for action in range(num_actions)),
            state_names=tuple(self._states),
            state_player=np.array(self._state_player, dtype=np.int8),
            legal=legal,
            features=np.array(self._features, dtype=np.float32),
            node_state=np.array(self._node_state, dtype=np.int64),
            children=children,
            chance=chance,
            payoff=np.array(self._payoff),
        )

    def _visit(self, state: "pyspiel.State") -> int:
        """Number ``state`` and all its descendants; return its number."""
        node = len(self._node_state)
        row: list[tuple[int, int, float]] = []
        self._branches.append(row)
        self._node_state.append(-1)
        self._payoff.append(0.0)
        if state.is_terminal():
            first, second = state.returns()
            assert first == -second, "the game is not zero-sum"
            self._payoff[node] = first
        elif state.is_chance_node():
            for branch, (outcome, probability) in enumerate(state.chance_outcomes()):
                row.append((branch, self._visit(state.child(outcome)), probability))
        else:
            self._node_state[node] = self._information_state(state)
            row.extend((action, self._visit(state.child(action)), 0.0) for action in state.legal_actions())
        return node

    def _information_state(self, state: "pyspiel.State") -> int:
        player = state.current_player()
        name = state.information_state_string(player)
        if name not in self._states:
            self._states[name] = len(self._states)
            self._state_player.append(player)
            self._legal.append(state.legal_actions())
            self._features.append(state.information_state_tensor(player))
            for action in state.legal_actions():
                self._action_names.setdefault(action, state.action_to_string(player, action))
        return self._states[name]
