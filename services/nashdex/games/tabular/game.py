"""Tabular games as games that the steps can play: their space, their arena, the game itself, and the formats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.evidence import Evidence
from nashdex.core.seeds import inverse_cdf, uniforms
from nashdex.games.format import Format, Inputs
from nashdex.games.interface import Decisions, Events, Outcome, RunningBattle, Situations
from nashdex.games.legal import LegalActions
from nashdex.games.space import NUM_SEATS, ObservationBlock, ObservationField, Space
from nashdex.games.tabular.matrix import matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import GameTree

GAME = "tabular"
"""``Space.game`` of every tabular game."""
STATE = "state"
"""The only block, and its field that names the information state; 0 is no state."""


def tabular_space(tree: GameTree) -> Space:
    """Return the space of ``tree``: its information state by number and by features. Its version is the game's."""
    num_features = tree.features.shape[1]
    fields = (
        ObservationField(
            name=STATE, offset=0, size=1, kind="category", vocabulary=STATE, description="Number of the state, from 1."
        ),
        ObservationField(
            name="information", offset=1, size=num_features, kind="number", description="The seat's information."
        ),
    )
    return Space(
        game=GAME,
        format=tree.format,
        version=tree.version,
        observation_size=1 + num_features,
        num_actions=tree.num_actions,
        actions=tree.action_names,
        vocabularies={STATE: tree.num_states + 1},
        blocks=(ObservationBlock(name=STATE, offset=0, rows=1, stride=1 + num_features, fields=fields),),
    )


def observations_of(tree: GameTree) -> NDArray[np.float32]:
    """Return the observation of each information state, shape (S, 1 + F)."""
    numbers = np.arange(1, tree.num_states + 1, dtype=np.float32)
    return np.column_stack([numbers, tree.features])


def observed_states(space: Space, observations: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the information state of each of N observations, shape (N,)."""
    return space.view(observations, STATE, STATE)[:, 0, 0].astype(np.int64) - 1


class TabularArena:
    """Implements ``games.interface.Arena``. A battle's seed decides chance alone."""

    def __init__(self, tree: GameTree) -> None:
        self._tree = tree
        self._space = tabular_space(tree)
        self._observations = observations_of(tree)
        self._cumulative_chance = tree.chance.cumsum(axis=1)
        self._is_chance = self._cumulative_chance[:, -1] > 0
        # One element per running battle, in the order of their starts.
        self._battle = np.empty(0, dtype=np.int64)
        self._node = np.empty(0, dtype=np.int64)
        self._seed = np.empty(0, dtype=np.uint64)
        self._num_draws = np.empty(0, dtype=np.uint64)
        self._num_decisions = np.empty((0, NUM_SEATS), dtype=np.int64)
        self._is_asked = np.empty(0, dtype=np.bool_)

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""
        return self._space

    @property
    def versions(self) -> dict[str, str]:
        """The rules' version."""
        return {self._tree.format: self._tree.version}

    @property
    def draws_choices(self) -> bool:
        """Whether it plays seats whose choices are only drawn: never."""
        return False

    def start(self, battles: Sequence[RunningBattle]) -> None:
        """Start battles at the root."""
        count = len(battles)
        self._battle = np.append(self._battle, np.array([running.battle for running in battles], dtype=np.int64))
        self._node = np.append(self._node, np.zeros(count, dtype=np.int64))
        self._seed = np.append(self._seed, np.array([running.spec.seed for running in battles], dtype=np.uint64))
        self._num_draws = np.append(self._num_draws, np.zeros(count, dtype=np.uint64))
        self._num_decisions = np.append(self._num_decisions, np.zeros((count, NUM_SEATS), dtype=np.int64), axis=0)
        self._is_asked = np.append(self._is_asked, np.zeros(count, dtype=np.bool_))

    def poll(self) -> Events:
        """Let chance play, and return the finished battles and the decisions that are due."""
        self._play_chance()
        ended = self._tree.is_terminal[self._node]
        outcomes = self._outcomes(np.flatnonzero(ended))
        self._keep(~ended)
        due = np.flatnonzero(~self._is_asked)
        self._is_asked[due] = True
        return Events([self._decisions(due)] if len(due) else [], outcomes, [])

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Answer decisions, one per row, in any order; arrays of shape (N,)."""
        order = np.argsort(self._battle)
        rows = order[np.searchsorted(self._battle, battle, sorter=order)]
        nodes = self._node[rows]
        assert self._tree.legal[self._tree.node_state[nodes], action].all(), "an illegal action was played"
        self._node[rows] = self._tree.children[nodes, action]
        self._num_decisions[rows, seat] += 1
        self._is_asked[rows] = False

    def stop(self, battle: int, num_open: int) -> None:
        """Forget a running battle."""
        del num_open
        self._keep(self._battle != battle)

    def resident_bytes(self) -> int:
        """Return 0: the arena has no child process."""
        return 0

    def cpu_seconds(self) -> float:
        """Return 0: the arena has no child process."""
        return 0.0

    def close(self) -> None:
        """Do nothing: the arena has no child process."""

    def _play_chance(self) -> None:
        while len(rows := np.flatnonzero(self._is_chance[self._node])):
            nodes = self._node[rows]
            draws = uniforms(self._seed[rows], self._num_draws[rows])
            self._num_draws[rows] += np.uint64(1)
            self._node[rows] = self._tree.children[nodes, inverse_cdf(self._cumulative_chance[nodes], draws)]

    def _decisions(self, rows: NDArray[np.int64]) -> Decisions:
        state = self._tree.node_state[self._node[rows]]
        return Decisions(
            battle=self._battle[rows],
            seat=self._tree.state_player[state],
            asked_again=np.zeros(len(rows), dtype=np.bool_),
            observation=self._observations[state],
            legal=LegalActions.of_mask(self._tree.legal[state]),
        )

    def _outcomes(self, rows: NDArray[np.int64]) -> list[Outcome]:
        payoffs = self._tree.payoff[self._node[rows]]
        columns = (self._battle[rows], payoffs, self._num_decisions[rows])
        return [
            Outcome(
                battle=battle,
                winner=None if payoff == 0 else int(payoff < 0),
                turns=sum(decisions),
                decisions=(decisions[0], decisions[1]),
                rejected=0,
                first_score=0.5 + payoff / (2 * self._tree.max_payoff),
            )
            for battle, payoff, decisions in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._battle = self._battle[kept]
        self._node = self._node[kept]
        self._seed = self._seed[kept]
        self._num_draws = self._num_draws[kept]
        self._num_decisions = self._num_decisions[kept]
        self._is_asked = self._is_asked[kept]


@dataclass(frozen=True)
class TabularGame:
    """One tabular game. Implements ``games.interface.Game``."""

    tree: GameTree

    @property
    def format(self) -> str:
        """The name that settings use."""
        return self.tree.format

    @property
    def evidence(self) -> Evidence:
        """Exact: payoffs follow from the tree."""
        return Evidence.EXACT

    @property
    def largest_payoff(self) -> float:
        """The largest payoff of either seat, in the game's units."""
        return self.tree.max_payoff

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""
        return tabular_space(self.tree)

    def open_arena(self, *, num_gateways: int) -> TabularArena:
        """Open an arena in this process; it starts no simulator."""
        del num_gateways
        return TabularArena(self.tree)

    def teams(self) -> Sequence[str]:
        """Return nothing: tabular games have no teams."""
        return ()

    def situations(self, space: Space, observations: NDArray[np.float32]) -> Situations:
        """Return the number of each decision within its battle as its turn."""
        del space
        num_decisions = len(observations)
        return Situations("", np.arange(num_decisions), np.zeros(num_decisions, np.int64))


@dataclass(frozen=True)
class TabularFormat(Format):
    """A two-player zero-sum game that is small enough to be written down."""

    make_tree: Callable[[str], GameTree]
    """Returns the game's tree, given the format's name. Called when the game is needed; heavy imports belong inside."""

    game: ClassVar[str] = GAME
    evidence: ClassVar[Evidence] = Evidence.EXACT

    def make(self, name: str, inputs: Inputs) -> TabularGame:
        """Return the game."""
        del inputs
        return TabularGame(self.make_tree(name))


class MatrixFormat(Format):
    """A zero-sum matrix game whose payoffs a run brings."""

    game: ClassVar[str] = GAME
    evidence: ClassVar[Evidence] = Evidence.EXACT

    @property
    def takes_matrix(self) -> bool:
        """True: a run brings the payoffs."""
        return True

    def make(self, name: str, inputs: Inputs) -> TabularGame:
        """Return the game of the payoffs in ``inputs``."""
        assert inputs.matrix is not None, "the registry checks what a format takes"
        return TabularGame(matrix_tree(inputs.matrix, name))


OPENSPIEL: Final = TabularFormat(openspiel_tree)
"""A game that OpenSpiel calls by the format's name."""
MATRIX: Final = MatrixFormat()
