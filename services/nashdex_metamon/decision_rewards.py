"""Metamon's rewards of a seat's decisions, from observations: what ``rewards`` gives for its states.

The unit is 100 of metamon's: a victory gives 1, or 2 under the aggressive reward. Two things are not in observations.
What the last decision did before the battle ended gives nothing beside the outcome. And Team Preview, which metamon's
policies do not decide, gives nothing.

T decisions, P Pokémon of a side.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.space import Space
from nashdex.learning.rewards import Reward
from nashdex_metamon.rewards import REWARDS, Changes

_UNIT: Final = 100.0


class _Side(NamedTuple):
    """A side's Pokémon at T decisions, each (T, P)."""

    hp: NDArray[np.float32]
    ailing: NDArray[np.bool_]
    """Has a status; fainting is one."""
    fainted: NDArray[np.bool_]
    active: NDArray[np.bool_]
    present: NDArray[np.bool_]


def decision_rewards(name: str, space: Space, observations: NDArray[np.float32], score: float) -> NDArray[np.float32]:
    """Return the rewards of T decisions, shape (T,), from observations of shape (T, F).

    ``name`` is metamon's, one of ``rewards.REWARDS``.

    Raises:
        ConfigurationError: a side of ``space`` has more than one active Pokémon.
    """
    weights = REWARDS[name]
    result = np.zeros(len(observations), dtype=np.float32)
    if len(result) > 1 and name != "BinaryReward":
        own, opponent = _side(space, observations, "own"), _side(space, observations, "opponent")
        if (own.active.sum(axis=1) > 1).any():
            raise ConfigurationError(
                f"{name} is for single battles; {space.format} has more than one Pokémon on a side: expected the "
                "reward win-loss or shaped"
            )
        decided = space.view(observations, "field", "team_preview")[:-1, 0, 0] == 0
        reviving = space.view(observations, "field", "reviving")[:, 0, 0] == 1
        result[:-1] = np.where(decided, weights.between(_changes(own, opponent, reviving)), 0.0)
    result[-1:] = weights.outcome(score)
    return result / _UNIT


def _changes(own: _Side, opponent: _Side, reviving: NDArray[np.bool_]) -> Changes:
    """Return what happened between neighbouring decisions, (T − 1,)."""
    bench = own.present & ~own.active & (own.fainted == reviving[:, None])
    # The Pokémon that is active afterwards, where it was active or on the bench before.
    same = own.active[1:] & (own.active | bench)[:-1]
    gained = np.where(same, own.hp[1:] - own.hp[:-1], 0.0).sum(axis=1)
    taken = (same & own.ailing[1:] & ~own.ailing[:-1]).any(axis=1)
    stayed = opponent.active[1:] & opponent.active[:-1]
    damage = np.where(stayed, opponent.hp[:-1] - opponent.hp[1:], 0.0).sum(axis=1)
    given = (stayed & opponent.ailing[1:] & ~opponent.ailing[:-1]).any(axis=1)
    lost = np.diff(bench.sum(axis=1)) < 0
    removed = np.diff(opponent.fainted.sum(axis=1)) > 0
    return Changes(
        hp=damage + gained, status=given.astype(np.float32) - taken, faints=removed.astype(np.float32) - lost
    )


def _side(space: Space, observations: NDArray[np.float32], block: str) -> _Side:
    def field(name: str) -> NDArray[np.float32]:
        return space.view(observations, block, name)

    fainted = field("fainted")[..., 0] == 1
    return _Side(
        hp=np.where(fainted, 0.0, field("hp")[..., 0]).astype(np.float32),
        ailing=fainted | (field("status") != 0).any(axis=-1),
        fainted=fainted,
        active=field("active")[..., 0] == 1,
        present=field("present")[..., 0] == 1,
    )


def _reward(name: str) -> Reward:
    def compute(space: Space, observations: NDArray[np.float32], score: float, discount: float) -> NDArray[np.float32]:
        del discount
        return decision_rewards(name, space, observations, score)

    return Reward(compute=compute, games=frozenset({SHOWDOWN}), slots=frozenset({1}))


DEFAULT: Final = _reward("DefaultShapedReward")
AGGRESSIVE: Final = _reward("AggressiveShapedReward")
BINARY: Final = _reward("BinaryReward")
