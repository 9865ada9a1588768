"""Seeds derived from the run's seed and a path of names, so that results do not depend on the order of calls."""

import hashlib

import numpy as np
from numpy.typing import NDArray

_MASK_64 = (1 << 64) - 1
_ONE = np.uint64(1)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


def derive_seed(root: int, *path: str | int) -> int:
    """Return a 64-bit seed for ``path`` under ``root``. Different paths give independent seeds."""
    text = "\x1f".join([str(root), *(f"{type(part).__name__}:{part}" for part in path)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def derive_uniform(root: int, *path: str | int) -> float:
    """Return a draw in [0, 1) for ``path`` under ``root``."""
    return seed_uniform(derive_seed(root, *path))


def seed_uniform(seed: int) -> float:
    """Return the draw in [0, 1) that a 64-bit ``seed`` stands for."""
    return float((seed >> 11) * 2.0**-53)


def uniforms(seeds: NDArray[np.uint64], counters: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return one uniform draw in [0, 1) for each (seed, counter), both of shape (N,).

    A counter-based generator: splitmix64's finaliser (Steele, Lea and Flood 2014) over seed and counter.
    A seat's k-th draw depends on its own seed and on k alone, never on what else is in the batch.
    """
    # Products of unsigned arrays wrap around without a warning, as splitmix64 needs.
    state = seeds + (counters + _ONE) * _STEP
    state = (state ^ (state >> _SHIFTS[0])) * _FACTORS[0]
    state = (state ^ (state >> _SHIFTS[1])) * _FACTORS[1]
    state ^= state >> _SHIFTS[2]
    draws: NDArray[np.float64] = (state >> _SHIFTS[3]) * 2.0**-53
    return draws


def inverse_cdf(cumulative: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the element of each row that its uniform draw in [0, 1] falls on, shape (N,).

    ``cumulative`` of shape (N, A) holds sums of weights, which need not end at 1. An element of weight 0, over which
    the sum does not grow, is never drawn.
    """
    total = cumulative[:, -1]
    # A uniform just below 1 times the total may round up to the total itself, which no cumulative sum exceeds.
    threshold = np.minimum(uniforms * total, np.nextafter(total, 0.0))
    drawn: NDArray[np.int64] = (cumulative > threshold[:, None]).argmax(axis=1)
    return drawn


def hex_seed(seed: int) -> str:
    """Return ``seed`` as the 16 hex digits that the gateway expects."""
    return f"{seed & _MASK_64:016x}"
