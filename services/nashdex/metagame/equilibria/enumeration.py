"""Equilibria of many small symmetric zero-sum games at once, by trying every support. D games of K policies.

A unique equilibrium of an antisymmetric game has an odd support S, on which A_S σ = 0 (Kaplansky 1945; Bohnenblust,
Karlin and Shapley 1950). So each of 2^(K−1) supports is one batch of small linear systems, which is tens of times
quicker than D linear programs while K is small. Draws from a posterior have a unique equilibrium with probability 1;
games without a clearly unique equilibrium are left to the caller.
"""

from itertools import combinations

import numpy as np

from nashdex.metagame.equilibria.gains import Floats

LARGEST_SIZE = 11
"""1,024 supports. A linear program a game is quicker from about 13 policies on."""
_CLEAR = 1e-9
"""Smallest probability and smallest loss, as a share of the largest payoff, that rounding cannot make."""


def small_equilibria(payoffs: Floats) -> tuple[Floats, np.ndarray]:
    """Return the equilibria of ``payoffs``, and a mask of the games without a clearly unique one.

    Args:
        payoffs: antisymmetric, of shape (D, K, K).

    Returns:
        mixtures of shape (D, K), and a mask of shape (D,) of the games that are still to be solved.
    """
    size = payoffs.shape[1]
    scale = np.abs(payoffs).max(axis=(1, 2), keepdims=True)
    scaled = payoffs / np.where(scale > 0, scale, 1.0)
    strategies = np.zeros(payoffs.shape[:2])
    open_games = np.flatnonzero(scale[:, 0, 0] > 0)
    for num_played in range(1, size + 1, 2):
        for support in combinations(range(size), num_played):
            if not len(open_games):
                break
            played = list(support)
            rest = [policy for policy in range(size) if policy not in support]
            games = scaled[open_games]
            # A_S is singular: the row of ones makes its kernel's vector add up to 1.
            systems = games[:, played][:, :, played] + 1.0
            regular = np.abs(np.linalg.det(systems)) > _CLEAR
            mixtures = np.full((len(open_games), num_played), -1.0)
            if regular.any():
                right = np.ones((int(regular.sum()), num_played, 1))
                mixtures[regular] = np.linalg.solve(systems[regular], right)[:, :, 0]
            losses = (games[:, rest][:, :, played] @ mixtures[:, :, None])[:, :, 0]
            found = (mixtures > _CLEAR).all(axis=1) & (losses < -_CLEAR).all(axis=1)
            strategies[np.ix_(open_games[found], played)] = mixtures[found]
            open_games = open_games[~found]
    unsolved = np.zeros(len(payoffs), dtype=bool)
    unsolved[open_games] = True
    unsolved |= scale[:, 0, 0] == 0
    return strategies / np.maximum(strategies.sum(axis=1, keepdims=True), 1e-300), unsolved
