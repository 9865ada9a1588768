"""Draws of many cells in blocks of draws, so that memory does not grow with the number of draws.

A cell's draws are one stream of random numbers, so they are drawn cell by cell; what is computed from them needs all
cells of one draw. Where the draws do not fit into one block, a temporary file turns the one order into the other. It
has no name, and the system removes it with the process.
"""

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np

from nashdex.core.errors import TryAgainError
from nashdex.metagame.evidence.tally import Floats

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

    Args:
        cells: the draws of each cell, shape (D,), drawn when they are asked for: all before the first block.
        num_cells: N.
        num_draws: D.
        block: B.

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
