"""``search:…``: plays by search over sampled worlds, in a gateway that only receives what the seat sees.

Each world is a battle that the seat cannot tell from its own: the opponent's unseen Pokémon, moves, items and abilities
are drawn. Every pair of choices is played out in every world, and the player plays its part of the solution of the
game in which the opponent knows its cards (docs/reference/search.md).
"""

import weakref
from typing import Final

import numpy as np
import structlog
from numpy.typing import NDArray

from nashdex.core.seeds import derive_seed, derive_uniform, hex_seed, inverse_cdf
from nashdex.games.interface import Decisions
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Found, Search, Searched, SearchedSeat, Untrack
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer

_log = structlog.get_logger()
_PATIENCE_SECONDS: Final = 600.0
"""Longest wait for the answers of one batch."""
_UNIFORM_BITS: Final = 2.0**53


class SearchPlayer(ScriptedPlayer):
    """Searches every decision. ``nodes``, ``turns`` and ``milliseconds`` are the fields of ``protocol.Search``.

    Without a limit in milliseconds, the same battle has the same choices on every machine.
    """

    def __init__(self, space: Space, nodes: int, turns: int, milliseconds: float | None) -> None:
        self._space = space
        self._nodes = nodes
        self._turns = turns
        self._milliseconds = milliseconds
        self._teams = _teams_of(space.format)
        self._gateway: Gateway | None = None
        self._tracked: set[int] = set()

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its uniform number seeds the search and draws from the mixture."""
        roots = (uniforms * _UNIFORM_BITS).astype(np.int64).tolist()
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

    def forget(self, battle: int, seat: int) -> None:
        """Forget both seats of the battle, which has ended."""
        del seat
        if battle in self._tracked and self._gateway is not None:
            self._tracked.discard(battle)
            self._gateway.send(Untrack(battles=(battle,)))

    def _search(self, decisions: Decisions, roots: list[int]) -> tuple[Found, ...]:
        if self._gateway is None:
            # The first decision opens it, so that a process that only loads the policy starts no simulator.
            self._gateway = Gateway(self._space.format)
            weakref.finalize(self, self._gateway.close)
        rows = []
        for battle, seat, root in zip(decisions.battle.tolist(), decisions.seat.tolist(), roots, strict=True):
            said = decisions.lines[battle, seat]
            seed = hex_seed(derive_seed(root, "search"))
            rows.append(
                SearchedSeat(battle=battle, seat=seat, lines=tuple(said.lines), request=said.request, seed=seed)
            )
            self._tracked.add(battle)
        self._gateway.send(
            Search(
                rows=tuple(rows),
                nodes=self._nodes,
                turns=self._turns,
                milliseconds=self._milliseconds,
                teams=self._teams,
            )
        )
        return self._gateway.expect(Searched, _PATIENCE_SECONDS).rows


def _teams_of(format_id: str) -> tuple[str, ...]:
    """Return the packed teams that the format's players draw from; none if the simulator generates teams."""
    # Late: the registry of formats imports the settings of runs, which import the names of policies.
    from nashdex.games.registry import game_for  # noqa: PLC0415

    return tuple(game_for(format_id).teams())


def _legal_mixture(found: Found, legal: NDArray[np.uint16]) -> NDArray[np.float64]:
    """Return the probability of each legal action; the simulator may have refused one that the search allows."""
    by_action = dict(zip(found.actions, found.probabilities, strict=True))
    weights = np.array([by_action.get(action, 0.0) for action in legal.tolist()])
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(legal), 1.0 / len(legal))
