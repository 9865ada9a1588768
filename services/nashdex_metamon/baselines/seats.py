"""Baselines in battles: poke-env's battle reads each seat's lines, and the baseline answers with an order."""

from collections.abc import Callable
from random import Random

import numpy as np
from numpy.typing import NDArray
from poke_env.battle import Battle

from nashdex.core.seeds import derive_seed
from nashdex.games.interface import Decisions, SeatLines
from nashdex.games.showdown.poke_env_players import PokeEnvSeat
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer
from nashdex_metamon.baselines.arithmetic import Arithmetic
from nashdex_metamon.baselines.orders import Chooser
from nashdex_metamon.baselines.situation import Situation

_PSEUDO_MOVES = frozenset({"recharge", "fight", "struggle"})
"""Moves that the request offers alone when the Pokémon cannot use its own."""
_NUM_UNIFORM_BITS = 53


class _Seat:
    """One seat of one battle."""

    def __init__(self, format_id: str, seat: int, chooser: Chooser) -> None:
        self.poke_env = PokeEnvSeat(format_id, seat)
        self.arithmetic = Arithmetic(self.poke_env.battle.gen)
        self.chooser = chooser


class BaselinePlayer(ScriptedPlayer):
    """Plays by one baseline, in formats of generations 1 to 4 and 9."""

    def __init__(self, space: Space, new_chooser: Callable[[Random], Chooser]) -> None:
        """``new_chooser`` gives a battle's baseline, which may draw what holds for the battle."""
        self._format = space.format
        self._actions = space.actions
        self._new_chooser = new_chooser
        self._seats: dict[tuple[int, int], _Seat] = {}

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its random numbers follow from the row's uniform number.

        Log-probabilities are 0: for a baseline that draws within its rules, they are unknown.
        """
        action = np.empty(len(decisions), dtype=np.int64)
        for row, key in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            random = Random(derive_seed(int(uniforms[row] * 2**_NUM_UNIFORM_BITS), "baseline"))
            action[row] = self._choose(key, decisions.lines[key], decisions.mask[row], random)
        return Actions(action, np.zeros(len(action), dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._seats.pop((battle, seat), None)

    def _choose(self, key: tuple[int, int], said: SeatLines, mask: NDArray[np.bool_], random: Random) -> int:
        seat = self._seats.get(key)
        if seat is None:
            seat = self._seats[key] = _Seat(self._format, key[1], self._new_chooser(random))
        seat.poke_env.read(said.lines, said.request)
        legal = np.flatnonzero(mask)
        if said.request.get("teamPreview"):
            return int(legal[0])
        preferred = self._preferred(seat, random)
        if preferred is not None and mask[preferred]:
            return preferred
        return int(random.choice(legal.tolist()))

    def _preferred(self, seat: _Seat, random: Random) -> int | None:
        """Return the baseline's action; None before an opponent is seen, and if it has no preference."""
        battle = seat.poke_env.battle
        assert isinstance(battle, Battle), "baselines are declared for singles"
        if battle.active_pokemon is None or battle.opponent_active_pokemon is None:
            return None
        offered = [move.id for move in battle.available_moves]
        if len(offered) == 1 and offered[0] in _PSEUDO_MOVES:
            return self._actions.index("move 1")
        order = seat.chooser(Situation(battle, seat.arithmetic, random))
        return None if order is None else seat.poke_env.action_of(order)
