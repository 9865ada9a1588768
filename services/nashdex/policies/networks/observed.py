"""A batch of observations, as acting networks read it: chunk by chunk, and once for all that read the same.

Shapes: B decisions, F observation values.
"""

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.policies.networks.onednn import CHUNK_ROWS

Reading = TypeVar("Reading")


class Observed:
    """The observations of a batch, and what networks have read of them so far."""

    def __init__(self, observations: NDArray[np.float32]) -> None:
        """Take ``observations`` (B, F)."""
        self.rows: Final = np.ascontiguousarray(observations)
        self._chunks = [
            torch.from_numpy(self.rows[at : at + CHUNK_ROWS]) for at in range(0, len(self.rows), CHUNK_ROWS)
        ]
        self._readings: dict[Hashable, list[Any]] = {}

    def in_chunks(self, function: Callable[[Tensor], Tensor]) -> NDArray[np.float32]:
        """Return what ``function`` makes of the observations, at most ``CHUNK_ROWS`` at a time. No gradient."""
        with torch.inference_mode():
            return _joined([function(chunk) for chunk in self._chunks])

    def read_in_chunks(
        self, key: Hashable, read: Callable[[Tensor], Reading], function: Callable[[Reading], Tensor]
    ) -> NDArray[np.float32]:
        """Return what ``function`` makes of what ``read`` makes of each chunk. Readers of one ``key`` read the same."""
        with torch.inference_mode():
            if key not in self._readings:
                self._readings[key] = [read(chunk) for chunk in self._chunks]
            return _joined([function(reading) for reading in self._readings[key]])


def _joined(chunks: list[Tensor]) -> NDArray[np.float32]:
    results: NDArray[np.float32] = (chunks[0] if len(chunks) == 1 else torch.cat(chunks)).numpy()
    return results
