"""Small games for tests of solvers."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RPS = np.array([[0.5, 0.7, 0.3], [0.3, 0.5, 0.7], [0.7, 0.3, 0.5]]) - 0.5
BIASED_RPS = np.array([[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]])
DOMINATED = np.array([[0.5, 0.9, 0.8], [0.1, 0.5, 0.6], [0.2, 0.4, 0.5]]) - 0.5

each_example = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def antisymmetric(draw: st.DrawFn, levels: int = 3, max_size: int = 7) -> Floats:
    """Return payoffs with few distinct values, so that ties and many equilibria are common."""
    size = draw(st.integers(1, max_size))
    upper = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1, size):
            upper[i, j] = draw(st.integers(-levels, levels)) / 8
    return upper - upper.T


@st.composite
def rectangular(draw: st.DrawFn, max_size: int = 6) -> Floats:
    """Return payoffs of two populations, again with few distinct values."""
    rows, columns = draw(st.integers(1, max_size)), draw(st.integers(1, max_size))
    values = draw(st.lists(st.integers(-3, 3), min_size=rows * columns, max_size=rows * columns))
    return np.array(values, dtype=float).reshape(rows, columns) / 4


def is_probability_vector(strategy: Floats) -> bool:
    """Say whether ``strategy`` is a distribution, to rounding."""
    return bool((strategy >= 0).all()) and abs(strategy.sum() - 1) < 1e-12
