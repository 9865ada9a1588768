"""``search:…``: plays by search over sampled worlds, in a gateway that only receives the seat's view.

Each world is a battle that the seat cannot tell from its own: the opponent's unseen Pokémon, moves, items and abilities
are drawn. Every pair of choices is played out in every world, and the player plays its part of the solution of the
game in which the opponent knows its cards (docs/reference/search.md).
"""

from typing import Final

import numpy as np
import structlog
from numpy.typing import NDArray

from nashdex.core.seeds import derive_uniform, inverse_cdf
from nashdex.games.interface import Decisions
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.protocol import Found, Search, Searched
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy
from nashdex.policies.search.searching import Searching, search_roots

_log = structlog.get_logger()


class SearchPlayer(Searching, ScriptedPlayer):
    """Searches every decision. ``nodes``, ``turns`` and ``milliseconds`` are the fields of ``protocol.Search``.

    Without a limit in milliseconds, the same battle has the same choices on every machine.
    """

    def __init__(self, space: Space, nodes: int, turns: int, milliseconds: float | None) -> None:
        super().__init__(space)
        self._nodes = nodes
        self._turns = turns
        self._milliseconds = milliseconds

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its uniform number seeds the search and draws from the mixture."""
        roots = search_roots(uniforms)
        found = self._search(decisions, roots)
        action = np.empty(len(decisions), dtype=np.int64)
        probability = np.empty(len(decisions))
        for row, answer in enumerate(found):
            if answer.cause is not None:
                _log.warning("a position was not searched", cause=answer.cause.partition("\n")[0])
            probabilities = _legal_mixture(answer, decisions.legal[row])
            draw = np.array([derive_uniform(roots[row], "draw")])
            (place,) = inverse_cdf(probabilities.cumsum()[None], draw)
            action[row], probability[row] = decisions.legal[row][place], probabilities[place]
        return Actions(action, np.log(probability).astype(np.float32))

    def _search(self, decisions: Decisions, roots: list[int]) -> tuple[Found, ...]:
        message = Search(
            rows=self._gateway.rows(decisions, roots),
            nodes=self._nodes,
            turns=self._turns,
            milliseconds=self._milliseconds,
            teams=self._gateway.teams,
        )
        return self._gateway.ask(message, Searched).rows


def _legal_mixture(found: Found, legal: NDArray[np.uint16]) -> NDArray[np.float64]:
    """Return the probability of each legal action; the simulator may have refused one that the search allows."""
    by_action = dict(zip(found.actions, found.probabilities, strict=True))
    weights = np.array([by_action.get(action, 0.0) for action in legal.tolist()])
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(legal), 1.0 / len(legal))


def _player(space: Space, nodes: float, turns: float, milliseconds: float) -> ScriptedPlayer:
    return SearchPlayer(space, int(nodes), int(turns), milliseconds or None)


def _matrix(nodes: int, max_concurrent_battles: int, milliseconds: float = 0.0) -> ScriptedPolicy:
    return ScriptedPolicy(
        _player,
        games=frozenset({SHOWDOWN}),
        needs_lines=True,
        parameters={"nodes": nodes, "turns": 1, "milliseconds": milliseconds},
        max_concurrent_battles=max_concurrent_battles,
    )


MATRIX: Final = _matrix(nodes=100, max_concurrent_battles=8)
MATRIX_SMALL: Final = _matrix(nodes=1, max_concurrent_battles=16)
"""One world."""
MATRIX_ONE_SECOND: Final = _matrix(nodes=1_000_000, max_concurrent_battles=1, milliseconds=1000.0)
"""As many worlds as a second allows: the only one whose choices depend on the machine."""
