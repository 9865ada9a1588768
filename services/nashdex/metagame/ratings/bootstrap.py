"""Ratings of similar tournaments: each cell's groups of battles are drawn again, and the strengths fitted again.

Groups are side-swapped pairs, and each battle outside a pair. K policies, D draws, N played cells.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nashdex.core.seeds import derive_seed
from nashdex.metagame.evidence.blocks import draws_a_block, in_blocks
from nashdex.metagame.evidence.tally import Floats, Integers, Tally
from nashdex.metagame.ratings.bradley_terry import Strengths, fit_samples

_KINDS = np.array(
    [(0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 2), (0, 2, 2), (1, 0, 1), (1, 0, 2), (1, 1, 2), (2, 0, 2)], dtype=np.int64
)
"""Wins, draws and games of each kind of group, wins of the cell's first policy; the draws' order depends on it."""
_IS_PAIR = _KINDS[:, 2] > 1


def resampled_strengths(
    names: Sequence[str], tally: Tally, fixed: Mapping[int, float], near: Strengths, *, num_draws: int, seed: int
) -> Floats:
    """Return the θ of D tournaments with groups drawn again, shape (D, K).

    Args:
        names: ids in the order of the tally, sorted; a cell's draws follow from its ids.
        tally: of shape (K, K).
        fixed: θ of anchors by index.
        near: the fit to the tally itself.
        num_draws: D.
        seed: of the draws.

    Raises:
        TryAgainError: they need a temporary file, and it does not fit on its disk.
    """
    size = len(names)
    rows, columns = np.nonzero(np.triu(tally.games, 1))
    groups = _groups(tally)[rows, columns]
    has_both = np.logical_and(groups[:, _IS_PAIR].any(axis=1), groups[:, ~_IS_PAIR].any(axis=1))
    varied_rows, varied_columns = rows[has_both], columns[has_both]
    scored = np.zeros((size, num_draws))

    def games_of_varied_cells() -> Iterator[Floats]:
        """Add every cell's scores, and yield its games where draws differ in their number."""
        for i, j, counts, varies in zip(rows.tolist(), columns.tolist(), groups, has_both, strict=True):
            generator = np.random.default_rng(derive_seed(seed, "bootstrap", names[i], names[j]))
            drawn = _drawn_again(generator, counts, num_draws)
            scores = drawn[:, 0] + drawn[:, 1] / 2
            scored[i] += scores
            scored[j] += drawn[:, 2] - scores
            if varies:
                yield drawn[:, 2].astype(np.float64)

    found, start = [], 0
    block = draws_a_block(size, num_draws)
    for varied in in_blocks(games_of_varied_cells(), int(has_both.sum()), num_draws, block):
        played = np.repeat(tally.games[None].astype(np.float64), varied.shape[1], axis=0)
        played[:, varied_rows, varied_columns] = played[:, varied_columns, varied_rows] = varied.T
        of_block = np.ascontiguousarray(scored[:, start : start + len(played)].T)
        found.append(fit_samples(of_block, played, fixed, near))
        start += len(played)
    return np.concatenate(found)


def _groups(tally: Tally) -> Integers:
    """Return how many groups of each of ``_KINDS`` every cell has, shape (K, K, 9)."""
    wins, draws, losses = tally.single_battles()
    return np.stack(
        [
            losses,
            tally.won_both.T,
            draws,
            tally.won_and_drew.T,
            tally.drew_both,
            wins,
            tally.split,
            tally.won_and_drew,
            tally.won_both,
        ],
        axis=-1,
    )


def _drawn_again(generator: np.random.Generator, counts: Integers, num_draws: int) -> Integers:
    """Return wins, draws and games of a cell in every draw, shape (D, 3)."""
    present = counts > 0
    times = counts[present]
    drawn: Integers = generator.multinomial(times.sum(), times / times.sum(), size=num_draws) @ _KINDS[present]
    return drawn
