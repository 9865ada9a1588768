"""Seeds and draws: reproducible, independent of who asks first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.seeds import derive_seed, derive_uniform, hex_seed, inverse_cdf, uniforms


@given(st.integers(0, 2**63), st.lists(st.text(max_size=5) | st.integers(0, 99), min_size=1, max_size=3))
def test_a_path_gives_the_same_seed_each_time_and_another_path_another(root: int, path: list[str | int]) -> None:
    seed = derive_seed(root, *path)
    assert 0 <= seed < 2**64
    assert seed == derive_seed(root, *path)
    assert seed != derive_seed(root, *path, 0)
    assert seed != derive_seed(root + 1, *path)


def test_a_number_and_its_text_are_different_paths() -> None:
    assert derive_seed(0, 1) != derive_seed(0, "1")
    assert derive_seed(0, "a", "b") != derive_seed(0, "ab")


def test_a_draw_does_not_depend_on_the_rest_of_the_batch() -> None:
    seeds = np.arange(1000, dtype=np.uint64)
    counters = np.arange(1000, dtype=np.uint64)[::-1].copy()
    together = uniforms(seeds, counters)
    alone = np.array([uniforms(seeds[i : i + 1], counters[i : i + 1])[0] for i in range(1000)])
    np.testing.assert_array_equal(together, alone)


def test_draws_are_uniform() -> None:
    """Kolmogorov–Smirnov distance of 100,000 draws over few seeds and many counters stays under its 1e-6 bound."""
    counters = np.tile(np.arange(10_000, dtype=np.uint64), 10)
    draws = np.sort(uniforms(np.repeat(np.arange(10, dtype=np.uint64), 10_000), counters))
    assert draws[0] >= 0.0
    assert draws[-1] < 1.0
    distance = np.abs(draws - np.arange(1, 100_001) / 100_000).max()
    assert distance < 2.7 / np.sqrt(100_000)


def test_derived_uniforms_cover_the_unit_interval() -> None:
    draws = [derive_uniform(7, "x", i) for i in range(2000)]
    assert 0.0 <= min(draws) < 0.01
    assert 0.99 < max(draws) < 1.0


def test_hex_seed_has_sixteen_digits() -> None:
    assert hex_seed(0) == "0" * 16
    assert hex_seed(2**64 - 1) == "f" * 16


def test_draws_fall_on_elements_by_their_weight_and_never_on_one_without() -> None:
    cumulative = np.cumsum([[0.0, 1.0, 0.0, 3.0, 0.0]], axis=1).repeat(8, axis=0)
    draws = np.array([0.0, 0.1, 0.2499, 0.25, 0.5, 0.9, np.nextafter(1.0, 0.0), 1.0])
    assert inverse_cdf(cumulative, draws).tolist() == [1, 1, 1, 3, 3, 3, 3, 3]
