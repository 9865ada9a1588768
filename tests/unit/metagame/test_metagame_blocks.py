"""Draws in blocks: the same numbers as at once, in memory that does not grow with their number."""

import os
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nashdex.core.errors import TryAgainError
from nashdex.metagame.evidence.estimates import Floats, posterior_of_cells, posterior_scores, score_blocks
from nashdex.metagame.evidence.tally import draws_a_block, in_blocks
from nashdex.metagame.ratings.bradley_terry import fit, fit_samples
from nashdex.metagame.ratings.table import resampled_strengths
from support.tournaments import drawn_matrix


def _numbers(num_cells: int, num_draws: int) -> Iterator[Floats]:
    for cell in range(num_cells):
        yield cell + np.arange(num_draws) / num_draws


@pytest.mark.parametrize("block", [1, 7, 20, 33, 50])
def test_blocks_hold_every_draw_of_every_cell_in_order(block: int) -> None:
    whole = np.stack([*_numbers(11, 50)])
    found = [*in_blocks(_numbers(11, 50), 11, 50, block)]
    assert max(part.shape[1] for part in found) <= block
    assert (np.concatenate(found, axis=1) == whole).all()


def test_all_cells_are_drawn_before_the_first_block_even_if_none_is_kept() -> None:
    drawn = []

    def nothing() -> Iterator[Floats]:
        drawn.append(True)
        yield from ()

    assert next(in_blocks(nothing(), 0, 10, 4)).shape == (0, 4)
    assert drawn


@pytest.mark.parametrize("block", [1, 9, 30])
def test_posterior_in_blocks_is_the_posterior_to_the_bit(block: int) -> None:
    counted = drawn_matrix("dbca", np.full((4, 4), 0.6), 20, seed=1)
    draw = posterior_of_cells(counted.policies, counted.tally, num_draws=30, seed=4)
    parts = [*score_blocks(counted.policies, draw, num_draws=30, block=block)]
    assert (np.concatenate(parts) == posterior_scores(counted.policies, counted.tally, num_draws=30, seed=4)).all()


def test_fits_of_a_block_are_those_of_all_samples_to_the_bit() -> None:
    counted = drawn_matrix([f"p{i:02d}" for i in range(12)], np.full((12, 12), 0.5), 30, seed=2)
    tally = counted.tally
    near = fit(tally.scores, tally.games.astype(float), {})
    generator = np.random.default_rng(0)
    scored = tally.scores.sum(axis=1) + generator.normal(size=(40, 12))
    games = np.repeat(tally.games[None].astype(float), 40, axis=0)
    parts = [fit_samples(scored[i : i + 9], games[i : i + 9], {}, near) for i in range(0, 40, 9)]
    assert (np.concatenate(parts) == fit_samples(scored, games, {}, near)).all()


def test_memory_does_not_grow_with_the_number_of_draws() -> None:
    counted = drawn_matrix([f"p{i:03d}" for i in range(120)], np.full((120, 120), 0.5), 20, seed=3)

    def peak_bytes(num_draws: int) -> int:
        block = draws_a_block(120, num_draws)
        draw = posterior_of_cells(counted.policies, counted.tally, num_draws=num_draws, seed=0)
        tracemalloc.start()
        for _ in score_blocks(counted.policies, draw, num_draws=num_draws, block=block):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert draws_a_block(120, 10**6) == draws_a_block(120, 600) < 600
    assert peak_bytes(1200) < 1.2 * peak_bytes(600)


def test_a_full_disk_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no full device")
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: os.fdopen(os.open("/dev/full", os.O_RDWR), "r+b"))
    with pytest.raises(TryAgainError, match=r"No space left on device.*TMPDIR"):
        next(in_blocks(_numbers(2000, 50), 2000, 50, 7))


def test_samples_of_pairs_and_single_battles_vary_in_their_games() -> None:
    """Blocks of one draw give the θ that all draws at once give."""
    counted = drawn_matrix("abc", np.full((3, 3), 0.5), 21, seed=5)
    tally = counted.tally
    tally = type(tally)(**{name: getattr(tally, name).copy() for name in tally.tables()})
    tally.split[0, 1] = tally.split[1, 0] = 4
    tally.wins[0, 1] = max(tally.wins[0, 1], 6)
    tally.wins[1, 0] = tally.games[0, 1] - tally.wins[0, 1]
    near = fit(tally.scores, tally.games.astype(float), {})
    found = resampled_strengths("abc", tally, {}, near, num_draws=50, seed=0)
    assert found.shape == (50, 3)
    assert found.std(axis=0).min() > 0
