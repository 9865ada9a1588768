"""Player of ``heuristic``: poke-env's simple heuristics, which read the game's own text. Imports poke-env."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions
from nashdex.games.showdown.poke_env_players import HeuristicSeats
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer


class HeuristicPlayer(ScriptedPlayer):
    """Plays by poke-env's ``SimpleHeuristicsPlayer``."""

    def __init__(self, space: Space) -> None:
        self._seats = HeuristicSeats(space.format, space.num_slots)

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; log-probabilities count as 0. ``uniforms`` draw where it has no legal preference."""
        action = np.empty(len(decisions), dtype=np.int64)
        for row, (battle, seat) in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            said = decisions.lines[battle, seat]
            action[row] = self._seats.choose(
                battle, seat, said.lines, said.request, decisions.legal[row], uniforms[row]
            )
        return Actions(action, np.zeros(len(action), dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Drop poke-env's battle."""
        self._seats.forget(battle, seat)
