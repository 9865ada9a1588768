"""The oracles of games whose tree is known: the exact best response, and Q-learning.

The exact best response follows by backward induction through the tree.

Tabular Q-learning (Watkins and Dayan 1992) against a mixture of tables, from simulated battles.

Against fixed opponents, one of which is drawn for each battle, a seat's information states are the states of a Markov
decision process: in a game of perfect recall they hold all that the seat can know about its opponent. So Q(s, a)
converges to the value of the best response, without the tree's probabilities ever being read.

S information states, A actions, K opponents, N battles that step together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.results import TrainingPoint
from nashdex.core.seeds import inverse_cdf
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.games.space import NUM_SEATS
from nashdex.games.tabular.tree import GameTree, Table, one_hot
from nashdex.learning.updates.state import Curve
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.tree import TreeOpponents
from nashdex.settings.oracles import ExactSettings, QLearningSettings
from nashdex.telemetry.progress import Progress


def train_exact(task: Task, _settings: ExactSettings) -> Trained:
    """Return the exact best response to the plan's opponents."""
    opponents = task.opponents_in_tree()
    table, value = opponents.best_response()
    return Trained(policy=table, summary={"value": opponents.payoff(table), "best_response_value": value})


_NONE = -1
_CONCURRENT_BATTLES = 1000
"""Battles that step together."""
_EXPLORATION = 0.5
"""ε at the start: the share of actions drawn uniformly."""
_FINAL_EXPLORATION = 0.05
"""ε at the end; linear in between."""
_STEP_SIZE_POWER = 0.7
"""ω of the step size n^(−ω) after n visits of a state and action."""


@dataclass(frozen=True)
class Learnt:
    """The result of Q-learning."""

    table: Table
    """Shape (S, A): greedy; the first of equally good actions."""
    num_decisions: int
    """Decisions of the learner."""
    num_updates: int
    curve: tuple[TrainingPoint, ...]


class ActionValues:
    """Q(s, a) in the game's payoff units, 0 at first."""

    def __init__(self, tree: GameTree) -> None:
        self._legal = tree.legal
        self._values = np.zeros(tree.legal.shape)
        self._num_updates = np.zeros(tree.legal.size)

    def greedy(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the best legal action of each state, shape (N,)."""
        actions: NDArray[np.int64] = np.where(self._legal[states], self._values[states], -np.inf).argmax(axis=1)
        return actions

    def best(self, states: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return max_a Q(s, a) of each state, shape (N,)."""
        best: NDArray[np.float64] = np.where(self._legal[states], self._values[states], -np.inf).max(axis=1)
        return best

    def update(self, sequences: NDArray[np.int64], targets: NDArray[np.float64]) -> float:
        """Move each Q towards the mean of its targets, by n^(−ω) at its n-th time; return the mean squared error.

        ``sequences`` are s · A + a, shape (N,); ``targets`` what followed, shape (N,).
        """
        values = self._values.reshape(-1)
        error = targets - values[sequences]
        visits = np.bincount(sequences, minlength=values.size)
        seen = visits > 0
        self._num_updates[seen] += 1
        mean_error = np.bincount(sequences, error, values.size)[seen] / visits[seen]
        values[seen] += self._num_updates[seen] ** -_STEP_SIZE_POWER * mean_error
        return float(np.square(error).mean())


def learn(opponents: TreeOpponents, settings: QLearningSettings, seed: int, progress: Progress) -> Learnt:
    """Return the greedy table after ``settings.battles`` battles against a mixture of opponents.

    Raises:
        StoppedError: the process was asked to stop.
    """
    tree = opponents.tree
    rng = np.random.default_rng(seed)
    values = ActionValues(tree)
    curve, num_decisions, wave, left = Curve(), 0, 0, settings.battles
    while left > 0:
        check_stop()
        size = min(left, _CONCURRENT_BATTLES)
        done = 1.0 - left / settings.battles
        exploration = _EXPLORATION + done * (_FINAL_EXPLORATION - _EXPLORATION)
        decisions, error = _play(opponents, values, exploration, size, rng)
        curve.add(wave, {"exploration": exploration, "value_loss": error})
        num_decisions += decisions
        wave, left = wave + 1, left - size
        progress.advance(size)
    table = one_hot(values.greedy(np.arange(tree.num_states)), tree.num_actions)
    return Learnt(table, num_decisions, wave, curve.with_newest())


def _play(
    opponents: TreeOpponents, values: ActionValues, exploration: float, size: int, rng: np.random.Generator
) -> tuple[int, float]:
    """Play ``size`` battles side by side and learn from them; return the learner's decisions and its mean error."""
    tree, tables, mixture = opponents.tree, opponents.tables, opponents.mixture
    seat = rng.integers(0, NUM_SEATS, size)
    opponent = rng.choice(len(mixture), size, p=mixture)
    node = np.zeros(size, dtype=np.int64)
    last = np.full(size, _NONE)
    errors, decisions = [], 0
    while True:
        state = tree.node_state[node]
        chance = np.flatnonzero((state < 0) & ~tree.is_terminal[node])
        deciding = np.flatnonzero(state >= 0)
        if not len(chance) and not len(deciding):
            break
        mine = tree.state_player[state[deciding]] == seat[deciding]
        own, other = deciding[mine], deciding[~mine]
        action = np.zeros(size, dtype=np.int64)
        action[chance] = _draw(tree.chance[node[chance]], rng)
        action[other] = _draw(tables[opponent[other], state[other]], rng)
        follows = own[last[own] != _NONE]
        if len(follows):
            errors.append(values.update(last[follows], values.best(state[follows])))
        explores = rng.random(len(own)) < exploration
        action[own] = np.where(
            explores, _draw(tree.legal[state[own]].astype(np.float64), rng), values.greedy(state[own])
        )
        last[own] = state[own] * tree.num_actions + action[own]
        decisions += len(own)
        moving = np.concatenate([chance, deciding])
        node[moving] = tree.children[node[moving], action[moving]]
    ended = np.flatnonzero(last != _NONE)
    if len(ended):
        errors.append(values.update(last[ended], np.where(seat == 0, 1.0, -1.0)[ended] * tree.payoff[node[ended]]))
    return decisions, float(np.mean(errors)) if errors else 0.0


def _draw(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return one column of each row of ``weights`` (N, B), drawn in proportion, shape (N,)."""
    return inverse_cdf(weights.cumsum(axis=1), rng.random(len(weights)))


def train_by_q_learning(task: Task, settings: QLearningSettings) -> Trained:
    """Return the greedy policy of Q-learning against the plan's opponents."""
    opponents = task.opponents_in_tree()
    _, best_value = opponents.best_response()
    with Progress(StepName.TRAIN, task.shard, settings.battles, "battles") as progress:
        learnt = learn(opponents, settings, task.seed, progress)
    return Trained(
        policy=learnt.table,
        summary={"value": opponents.payoff(learnt.table), "best_response_value": best_value},
        curve=learnt.curve,
        num_updates=learnt.num_updates,
        num_decisions=learnt.num_decisions,
    )
