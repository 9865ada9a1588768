"""Policies that are programs: they need no training, never change, and anchor the ratings. Their names are their ids.

N rows, A actions.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.games.tabular.tree import GameTree, Table, first_action_table, uniform_table
from nashdex.policies.interface import Actions, Policy
from nashdex.policies.sampling import sample_masked

RANDOM = PolicyId("random")
MAX_POWER = PolicyId("max-power")
HEURISTIC = PolicyId("heuristic")
FIRST_ACTION = PolicyId("first-action")

_IMMUNE_BELOW = -1.25
"""Layouts write a multiplier's log2 / 2; a quarter is −1, no effect at all is −1.5."""
_STAB = 1.5


class RandomPolicy:
    """Draws uniformly from the legal actions."""

    id = RANDOM
    needs_lines = False

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the log-probability is −log of how many actions are legal."""
        return sample_masked(np.zeros(decisions.mask.shape, np.float32), decisions.mask, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Do nothing: it remembers no battle."""


class FirstActionPolicy:
    """Plays the lowest legal action: in Kuhn poker it always passes."""

    id = FIRST_ACTION
    needs_lines = False

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the choice is certain, so log-probabilities are 0."""
        del uniforms
        return Actions(decisions.mask.argmax(axis=1), np.zeros(len(decisions), dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Do nothing: it remembers no battle."""


class MaxPowerPolicy:
    """Plays the move with the largest power × accuracy × effectiveness × STAB against the opposing active Pokémon.

    It switches only where no move is legal, to the Pokémon whose best move is the strongest by the same measure.
    Reads nothing but the observation, by the names of the space's fields.
    """

    id = MAX_POWER
    needs_lines = False

    def __init__(self, space: Space) -> None:
        self._space = space
        for block, field in [
            ("own", "active"),
            *(("own_moves", f) for f in ("power", "accuracy", "effectiveness", "stab")),
        ]:
            _require_field(space, block, field)
        self._moves = _actions_named(space, "move")
        self._switches = _actions_named(space, "switch")

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the choice is certain, so log-probabilities are 0."""
        del uniforms
        damage = self._damage(decisions.observation)
        active = self._space.view(decisions.observation, "own", "active")[..., 0].argmax(axis=1)
        preference = np.full(decisions.mask.shape, -2.0, dtype=np.float32)
        # Damage is never negative: every move comes before every switch, and that before everything else.
        preference[:, self._switches] = -1.0 / (1.0 + damage.max(axis=2)[:, : len(self._switches)])
        preference[:, self._moves] = damage[np.arange(len(active)), active][:, : len(self._moves)]
        action = np.where(decisions.mask, preference, -np.inf).argmax(axis=1)
        return Actions(action, np.zeros(len(action), dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Do nothing: it remembers no battle."""

    def _damage(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return each own Pokémon's expected power by move, shape (N, Pokémon, moves)."""
        power, accuracy, effectiveness, stab = (
            self._space.view(observations, "own_moves", field)[..., 0]
            for field in ("power", "accuracy", "effectiveness", "stab")
        )
        multiplier = np.where(effectiveness < _IMMUNE_BELOW, 0.0, 4.0**effectiveness)
        damage = power * accuracy * multiplier * np.where(stab > 0, _STAB, 1.0)
        num_pokemon = next(block.rows for block in self._space.blocks if block.name == "own")
        by_pokemon: NDArray[np.float32] = damage.reshape(len(observations), num_pokemon, -1)
        return by_pokemon


class HeuristicPolicy:
    """Thinks with poke-env's battle and its simple heuristics, from the game's own text."""

    id = HEURISTIC
    needs_lines = True

    def __init__(self, space: Space) -> None:
        if space.game != "showdown":
            raise ConfigurationError(f"policy {HEURISTIC!r} plays Pokémon Showdown only, not {space.format!r}")
        # Late: poke-env takes a second to import, and only this policy needs it.
        from nashdex.games.showdown.poke_env_players import HeuristicSeats  # noqa: PLC0415

        self._seats = HeuristicSeats(space.format)

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the choice is certain, so log-probabilities are 0."""
        del uniforms
        action = np.empty(len(decisions), dtype=np.int64)
        for row, (battle, seat) in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            said = decisions.lines[battle, seat]
            action[row] = self._seats.choose(battle, seat, said.lines, said.request, decisions.mask[row])
        return Actions(action, np.zeros(len(action), dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Drop what was read of the seat's battle."""
        self._seats.forget(battle, seat)


SCRIPTED: Mapping[PolicyId, Callable[[Space], Policy]] = MappingProxyType(
    {
        RANDOM: lambda _: RandomPolicy(),
        FIRST_ACTION: lambda _: FirstActionPolicy(),
        MAX_POWER: MaxPowerPolicy,
        HEURISTIC: HeuristicPolicy,
    }
)
"""How to make each scripted policy for a space."""

IN_EVERY_GAME: Mapping[PolicyId, Callable[[GameTree], Table]] = MappingProxyType(
    {RANDOM: uniform_table, FIRST_ACTION: first_action_table}
)
"""Scripted policies that read nothing but what is legal, and their tables in a tabular game."""


def _require_field(space: Space, block: str, field: str) -> None:
    if not any(b.name == block and any(f.name == field for f in b.fields) for b in space.blocks):
        has = ", ".join(b.name for b in space.blocks)
        raise ConfigurationError(
            f"policy {MAX_POWER!r} cannot play {space.format}: it reads field {field!r} of block {block!r}, which "
            f"version {space.version} of the observation does not have (its blocks: {has})"
        )


def _actions_named(space: Space, verb: str) -> list[int]:
    """Return the actions called ``verb 1``, ``verb 2``, … in that order."""
    index = {name: i for i, name in enumerate(space.actions)}
    found: list[int] = []
    while (name := f"{verb} {len(found) + 1}") in index:
        found.append(index[name])
    if not found:
        raise ConfigurationError(
            f"policy {MAX_POWER!r} cannot play {space.format}: no action is called '{verb} 1' (there are: "
            f"{', '.join(space.actions)})"
        )
    return found
