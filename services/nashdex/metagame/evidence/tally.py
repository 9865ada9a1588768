"""Results of every two policies: single battles, and side-swapped pairs as wholes. K policies.

The two battles of a pair share their teams, so they are not independent. Every error bar therefore takes the pair as
the unit. A cell's *design effect* (Kish 1965, section 8.2) is the variance of its mean score by pairs, divided by what
as many independent battles without draws would have. Below 1, swapped teams or draws make a battle worth more than one
independent battle; above 1, the same policy tends to win both battles of a pair. Games divided by the design effect
are the *effective* games, which replace the games in Wilson's interval, in the posterior and in the ratings' errors.

Draws of many cells come in blocks of draws, so that memory does not grow with the number of draws.
A cell's draws are one stream of random numbers, so they are drawn cell by cell; what is computed from them needs all
cells of one draw. Where the draws do not fit into one block, a temporary file turns the one order into the other. It
has no name, and the system removes it with the process.
"""

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashdex.core.errors import TryAgainError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BATTLES_A_PAIR = 2
_VIRTUAL_PAIRS = 2.0
"""Independent pairs at an even score that a cell's variance is mixed with. Without them, a few pairs that happen to
agree would make a cell look certain. Coverage is measured in ``docs/research/metagame.md``."""
_VARIANCE_OF_A_VIRTUAL_PAIR = 0.5
"""Variance of the sum of two even battles."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of shape (K, K), from the row's point of view. Pairs are counted in ``games`` too."""

    wins: Integers
    draws: Integers
    games: Integers
    won_both: Integers
    """Pairs. The transpose counts those that the row lost twice."""
    won_and_drew: Integers
    """Pairs. The transpose counts those that the row drew and lost."""
    split: Integers
    """Pairs that each policy won once."""
    drew_both: Integers

    @classmethod
    def of_single_battles(cls, wins: Integers, draws: Integers, games: Integers) -> "Tally":
        """Return the tally of battles whose pairs are not known: each counts as independent."""
        return cls(wins, draws, games, *(np.zeros_like(games) for _ in range(4)))

    @classmethod
    def nothing(cls, num_policies: int) -> "Tally":
        """Return the tally before any battle."""
        return cls(*(np.zeros((num_policies, num_policies), dtype=np.int64) for _ in fields(cls)))

    @classmethod
    def tables(cls) -> tuple[str, ...]:
        """Return the names of the tables."""
        return tuple(field.name for field in fields(cls))

    def __add__(self, other: "Tally") -> "Tally":
        """Return the counts of both."""
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.tables()))

    def over(self, places: Sequence[int] | Integers) -> "Tally":
        """Return the rows and columns ``places``, in that order."""
        rows = np.asarray(places, dtype=np.int64)
        index = np.ix_(rows, rows)
        return Tally(*(getattr(self, name)[index] for name in self.tables()))

    @property
    def scores(self) -> Floats:
        """Wins and half the draws."""
        return self.wins + self.draws / 2

    @property
    def pairs(self) -> Integers:
        """Complete side-swapped pairs."""
        one_way = self.won_both + self.won_and_drew
        return one_way + one_way.T + self.split + self.drew_both

    def single_battles(self) -> tuple[Integers, Integers, Integers]:
        """Return wins, draws and losses of the battles outside complete pairs."""
        drawn_in_pairs = self.won_and_drew + self.won_and_drew.T + BATTLES_A_PAIR * self.drew_both
        wins = self.wins - BATTLES_A_PAIR * self.won_both - self.won_and_drew - self.split
        return wins, self.draws - drawn_in_pairs, wins.T

    def _means(self) -> Floats:
        return self.scores / np.maximum(self.games, 1)

    def _squares_of_sums(self) -> Floats:
        """Return Σ over pairs and single battles of (score − expected)², a pair's score being the sum of its two."""
        mean = self._means()
        wins, draws, losses = self.single_battles()
        return (
            self.won_both * (2 - 2 * mean) ** 2
            + self.won_and_drew * (1.5 - 2 * mean) ** 2
            + (self.split + self.drew_both) * (1 - 2 * mean) ** 2
            + self.won_and_drew.T * (0.5 - 2 * mean) ** 2
            + self.won_both.T * (2 * mean) ** 2
            + wins * (1 - mean) ** 2
            + draws * (0.5 - mean) ** 2
            + losses * mean**2
        )

    def design_effects(self) -> Floats:
        """Return each cell's design effect; 1 where nothing was played, or single battles were without draws."""
        effects = design_effect(self._squares_of_sums(), self.games - self.pairs, self._means(), self.games)
        # A cell and its mirror image differ by rounding; their mean depends on no order.
        return (effects + effects.T) / 2

    def effective_games(self) -> Floats:
        """Return how many independent battles without draws would be as sure."""
        return self.games / self.design_effects()

    def score_variances(self) -> Floats:
        """Return the variance of each cell's score by pairs; 0 where every battle ended alike."""
        mean = self._means()
        independent = self.games * mean * (1 - mean) * self.games / np.maximum(self.games - 1, 1)
        return self.design_effects() * independent

    def degrees_of_freedom(self) -> Floats:
        """Return the degrees of freedom of each cell's variance; infinite without known pairs."""
        return np.where(self.pairs > 0, degrees_of_freedom(self.games - self.pairs), np.inf)


def design_effect(squares: ArrayLike, clusters: ArrayLike, mean: ArrayLike, games: ArrayLike) -> Floats:
    """Return the design effect of cells whose battles come in clusters: pairs and single battles. 1 of one cluster.

    ``squares`` are Σ over clusters of (sum of scores − expected sum)², and ``mean`` is the score of a battle.
    """
    of, num_clusters, num = (np.asarray(each, dtype=np.float64) for each in (mean, clusters, games))
    by_cluster = np.asarray(squares) * num_clusters / np.maximum(num_clusters - 1, 1)
    independent = num * of * (1 - of) * num / np.maximum(num - 1, 1)
    virtual = _VIRTUAL_PAIRS * _VARIANCE_OF_A_VIRTUAL_PAIR
    return np.where(num_clusters > 1, (by_cluster + virtual) / (independent + virtual), 1.0)


def degrees_of_freedom(clusters: ArrayLike) -> Floats:
    """Return the degrees of freedom of a variance that is estimated from ``clusters`` and the virtual pairs."""
    return np.asarray(clusters) - 1.0 + _VIRTUAL_PAIRS


_BLOCK_BYTES = 32 << 20
"""Size of one (B, K, K) array. Solving holds about eight of them at once."""
_EVEN_DRAWS = 100
"""Blocks of more draws than this hold a multiple of it: the number that solvers take at once."""
_NUMBER_BYTES = 8


def draws_a_block(num_policies: int, num_draws: int) -> int:
    """Return B, how many draws of a (K, K) matrix are held at once: all where they fit."""
    fitting = max(1, _BLOCK_BYTES // (_NUMBER_BYTES * num_policies**2))
    if fitting >= num_draws:
        return num_draws
    return fitting - fitting % _EVEN_DRAWS if fitting > _EVEN_DRAWS else fitting


def in_blocks(cells: Iterable[Floats], num_cells: int, num_draws: int, block: int) -> Iterator[Floats]:
    """Yield the draws of all cells in blocks of shape (N, B), the last one perhaps smaller.

    ``cells`` are the draws of each of N cells, shape (D,). All are drawn before the first block.

    Raises:
        TryAgainError: the temporary file does not fit on its disk.
    """
    if block >= num_draws:
        held = np.empty((num_cells, num_draws))
        for place, drawn in enumerate(cells):
            held[place] = drawn
        yield held
        return
    starts = range(0, num_draws, block)
    with tempfile.TemporaryFile(prefix="nashdex-draws-") as file:
        try:
            _write(file, cells, num_cells, num_draws, block)
        except OSError as error:
            size_gigabytes = _NUMBER_BYTES * num_cells * num_draws / 1e9
            raise TryAgainError(
                f"the draws of {num_cells:,} payoffs need {size_gigabytes:.1f} GB in {tempfile.gettempdir()} "
                f"({error.strerror}); make room there, set TMPDIR to another folder, or lower solve.num_draws"
            ) from error
        file.seek(0)
        for start in starts:
            width = min(block, num_draws - start)
            read = np.fromfile(file, dtype=np.float64, count=num_cells * width)
            yield read.reshape(num_cells, width)


def _write(file: BinaryIO, cells: Iterable[Floats], num_cells: int, num_draws: int, block: int) -> None:
    """Write every block one after another, each with the cells in order; some thousand cells at a time."""
    most = max(1, _BLOCK_BYTES // (_NUMBER_BYTES * num_draws))
    chunk, written, iterator = np.empty((min(most, num_cells), num_draws)), 0, iter(cells)
    while written < num_cells:
        filled = min(len(chunk), num_cells - written)
        for place in range(filled):
            chunk[place] = next(iterator)
        for start in range(0, num_draws, block):
            part = np.ascontiguousarray(chunk[:filled, start : start + block])
            file.seek(_NUMBER_BYTES * (start * num_cells + written * part.shape[1]))
            file.write(part.data)
        written += filled
    file.flush()
    deque(iterator, maxlen=0)
