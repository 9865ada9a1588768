"""First embeddings from what the simulator's data says of each species, move, item and ability.

Latent semantic analysis (Deerwester et al., "Indexing by latent semantic analysis", 1990): a matrix of entries by
facts, each weighted by how rare the fact is, and the first singular vectors of that matrix. So moves that burn begin
near each other, and what a network learns of one holds for all.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.games.facts import Facts
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.entities import embedding_name

_MOST_WEIGHT: Final = 4.0
_WORD: Final = "word"
_SHARE_OF_WORDS: Final = 0.5
"""Words of a description, and pairs of words, are many: each weighs half."""
_SHARE_OF_RANDOM: Final = 0.3
"""What is left of random weights, so that entries of equal facts differ."""


def describe_embeddings(network: ActorCritic, facts: Facts) -> None:
    """Give ``network``, whose weights are random, embeddings from ``facts``.

    Raises:
        DataError: the facts are of other vocabularies.
    """
    space = network.space
    if not facts.fit(space):
        raise DataError(
            f"the run's facts are not of {space.format} version {space.version}: its simulator has changed since the "
            "run began; begin the run again under another id"
        )
    of_name = {embedding_name(vocabulary): entries for vocabulary, entries in facts.vocabularies.items()}
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            entries = of_name.get(name.rpartition(".")[2])
            if entries is not None:
                parameter.mul_(_SHARE_OF_RANDOM).add_(described(entries, parameter.shape[1]))


def described(entries: Sequence[Mapping[str, float]], size: int) -> Tensor:
    """Return a vector for each of N entries, (N, ``size``), of length 1 in the mean square; 0 for one without facts.

    Args:
        entries: weights by fact.
        size: of a vector. With fewer facts, its last values are 0.
    """
    counts = Counter(fact for each in entries for fact in each)
    columns = {fact: column for column, fact in enumerate(sorted(fact for fact, num in counts.items() if num > 1))}
    if not columns:
        return torch.zeros(len(entries), size)
    matrix = np.zeros((len(entries), len(columns)))
    for row, each in enumerate(entries):
        for fact, weight in each.items():
            if fact in columns:
                rarity = np.log(len(entries) / counts[fact]) * (_SHARE_OF_WORDS if fact.startswith(_WORD) else 1.0)
                matrix[row, columns[fact]] = min(max(weight, -_MOST_WEIGHT), _MOST_WEIGHT) * rarity
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    has_facts = lengths[:, 0] > 0
    matrix /= np.maximum(lengths, 1e-9)
    matrix[has_facts] -= matrix[has_facts].mean(axis=0)
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    vectors = (left * np.sqrt(values))[:, :size]
    # The sign of a singular vector is the library's choice.
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    vectors = np.pad(vectors, ((0, 0), (0, size - vectors.shape[1])))
    vectors /= np.sqrt((vectors[has_facts] ** 2).sum(axis=1).mean())
    return torch.from_numpy(vectors).float()
