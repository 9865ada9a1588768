"""Metamon's rewards of a seat's decisions, from observations: what ``nashdex.metamon.rewards`` gives for its states.

The unit is 100 of metamon's: a victory gives 1, or 2 under the aggressive reward. Two things are not in observations.
What the last decision did before the battle ended gives nothing beside the outcome. And Team Preview, which metamon's
policies do not decide, gives nothing. These rewards shape without a potential: the best policy under them need not be
the one that wins most.

T decisions, P Pokémon of a side.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Reward
from nashdex.games.space import Space

_UNIT: Final = 100.0


class Weights(NamedTuple):
    """Of what happened between two decisions, and of a victory and a defeat."""

    hp: float
    status: float
    faint: float
    victory: float
    defeat: float


WEIGHTS: Final[Mapping[Reward, Weights]] = {
    "metamon-default": Weights(hp=1.0, status=0.5, faint=1.0, victory=100.0, defeat=-100.0),
    "metamon-aggressive": Weights(hp=1.0, status=0.0, faint=2.0, victory=200.0, defeat=0.0),
    "metamon-binary": Weights(hp=0.0, status=0.0, faint=0.0, victory=100.0, defeat=-100.0),
}


class _Side(NamedTuple):
    """A side's Pokémon at T decisions, each (T, P)."""

    hp: NDArray[np.float32]
    ailing: NDArray[np.bool_]
    """Has a status; fainting is one."""
    fainted: NDArray[np.bool_]
    active: NDArray[np.bool_]
    present: NDArray[np.bool_]


def metamon_rewards(kind: Reward, space: Space, observations: NDArray[np.float32], score: float) -> NDArray[np.float32]:
    """Return the rewards of T decisions, at least one, shape (T,), from observations of shape (T, F).

    ``kind`` is one of ``WEIGHTS``.

    Raises:
        ConfigurationError: a side of ``space`` has more than one active Pokémon.
    """
    weights = WEIGHTS[kind]
    outcome = weights.victory if score > 0.5 else weights.defeat if score < 0.5 else 0.0  # noqa: PLR2004 - a draw
    result = np.zeros(len(observations), dtype=np.float32)
    if len(result) > 1 and kind != "metamon-binary":
        own, opponent = _side(space, observations, "own"), _side(space, observations, "opponent")
        if (own.active.sum(axis=1) > 1).any():
            raise ConfigurationError(
                f"train.reward {kind!r} is for single battles, as metamon's; {space.format} has more than one Pokémon "
                "on a side: expected 'win-loss' or 'shaped'"
            )
        decided = space.view(observations, "field", "team_preview")[:-1, 0, 0] == 0
        reviving = space.view(observations, "field", "reviving")[:, 0, 0] == 1
        result[:-1] = np.where(decided, _between(own, opponent, reviving, weights), 0.0)
    result[-1] = outcome
    return result / _UNIT


def _between(own: _Side, opponent: _Side, reviving: NDArray[np.bool_], weights: Weights) -> NDArray[np.float32]:
    """Return the worth of what happened between neighbouring decisions, (T − 1,)."""
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
    worth: NDArray[np.float32] = (
        weights.hp * (damage + gained)
        + weights.status * (given.astype(np.float32) - taken)
        + weights.faint * (removed.astype(np.float32) - lost)
    )
    return worth


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
