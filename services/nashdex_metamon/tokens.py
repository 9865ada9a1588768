"""Vocabularies: a JSON object from words to token ids, as the user's file has it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.user_input import read_file

UNKNOWN_TOKEN: Final = -1
"""The id of a word that the vocabulary lacks. Embedding tables have one more row and are read at id + 1."""
MOST_BYTES: Final = 1 << 24
"""Largest size of a vocabulary file, in bytes."""


class Tokenizer:
    """Turns words into token ids. Ids are the file's, whatever its order."""

    def __init__(self, vocabulary: Mapping[str, int], name: str = "vocabulary") -> None:
        """Raises DataError: the ids are not 0, 1, … each once, so that they cannot index an embedding."""
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise DataError(f"{name}: the token ids are not 0 to {len(vocabulary) - 1}, each once")
        self.name = name
        self._ids = dict(vocabulary)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the tokenizer of a vocabulary file.

        Raises:
            DataError: it cannot be read, or is not a JSON object from words to ids.
        """
        return cls.from_json(read_file(path, "a vocabulary", MOST_BYTES), str(path))

    @classmethod
    def from_json(cls, data: bytes, source: str) -> Self:
        """Return the tokenizer of a vocabulary; ``source`` names it in errors.

        Raises:
            DataError: it is not a JSON object from words to ids.
        """
        try:
            vocabulary = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{source} is not a vocabulary: it is not valid JSON ({error})") from error
        if not _is_vocabulary(vocabulary):
            raise DataError(f"{source} is not a vocabulary: expected a JSON object from words to token ids")
        return cls(vocabulary, source)

    def __len__(self) -> int:
        """Return the number of words; unknown words are not counted."""
        return len(self._ids)

    def __contains__(self, word: str) -> bool:
        """Say whether the vocabulary has ``word``."""
        return word in self._ids

    def tokens(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the id of each word; −1 for unknown words."""
        get = self._ids.get
        return np.fromiter((get(word, UNKNOWN_TOKEN) for word in words), dtype=np.int32)


def _is_vocabulary(data: object) -> bool:
    return isinstance(data, dict) and all(type(number) is int for number in data.values())
