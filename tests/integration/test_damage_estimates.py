"""Estimated damage against the simulator's: what moves take from the opposing Pokémon in real battles."""

from contextlib import closing

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nashdex.games.space import Space
from nashdex.policies.networks.damage import DamageEstimates
from nashdex_play.envs.vector import BattleVectorEnv

pytestmark = pytest.mark.integration

FIRST_MOVE, NUM_MOVES = 6, 4


def hits(format_id: str, num_steps: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return estimates and shares of HP that the opposing Pokémon lost, where it stayed and lived."""
    rng = np.random.default_rng(0)
    expected: list[float] = []
    lost: list[float] = []
    with closing(BattleVectorEnv(16, format_id, opponent="random")) as env:
        observations, infos = env.reset(seed=1)
        estimates = DamageEstimates(env._episodes.space)
        for _ in range(num_steps):
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
            before = _opposing(estimates.space, _with_estimates(estimates, observations), actions)
            observations, *_, infos = env.step(actions)
            after = _opposing(estimates.space, _with_estimates(estimates, observations), actions)
            for (damage, hp, who), (_, left, same) in zip(before, after, strict=True):
                if damage > 0 and who == same and 0 < left < hp:
                    expected.append(damage)
                    lost.append(hp - left)
    return np.array(expected, np.float32), np.array(lost, np.float32)


def _with_estimates(estimates: DamageEstimates, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = estimates(torch.from_numpy(observations)).numpy()
    return found


def _opposing(
    space: Space, observations: NDArray[np.float32], actions: NDArray[np.int64]
) -> list[tuple[float, float, tuple[int, int]]]:
    """Return by battle the estimate of the move that ``actions`` choose, and the opposing Pokémon's HP and identity."""
    found = []
    for i, action in enumerate(actions):
        own, opponent = (
            int(space.view(observations, side, "active")[i, :, 0].argmax()) for side in ("own", "opponent")
        )
        is_move = FIRST_MOVE <= action < FIRST_MOVE + NUM_MOVES
        row = NUM_MOVES * own + action - FIRST_MOVE
        damage = float(space.view(observations, "own_moves", "damage")[i, row, 0]) if is_move else 0.0
        hp = float(space.view(observations, "opponent", "hp")[i, opponent, 0])
        found.append((damage, hp, (opponent, int(space.view(observations, "opponent", "species")[i, opponent, 0]))))
    return found


@pytest.mark.parametrize(
    ("format_id", "least_share"), [("gen1randombattle", 0.6), ("gen4randombattle", 0.25), ("gen9randombattle", 0.35)]
)
def test_moves_take_what_was_estimated(format_id: str, least_share: float) -> None:
    """Critical hits change some, and where there are items and abilities, these change more: the median is right."""
    expected, lost = hits(format_id, 100)
    assert len(expected) > 80
    ratios = lost / expected
    assert 0.9 < np.median(ratios) < 1.1
    assert np.mean((ratios > 0.8) & (ratios < 1.25)) > least_share
