"""Shards of decisions that are only partly known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.games.legal import LegalActions
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode, decode_with_notes, encode

BLOCK = ObservationBlock(
    name="all", offset=0, rows=1, stride=1, fields=(ObservationField(name="x", offset=0, size=1, kind="number"),)
)
SPACE = Space(
    game="test",
    format="test",
    version="1",
    observation_size=1,
    num_actions=9,
    actions=("a", "b", "c"),
    num_slots=2,
    vocabularies={},
    blocks=(BLOCK,),
)


def ragged(counts: list[int], actions: list[int]) -> LegalActions:
    return LegalActions.of_counts(np.array(counts, np.int64), np.array(actions, np.uint16), 9)


def episode(agreeing: LegalActions | None) -> Episode:
    actions: NDArray[np.int64] = np.array([1, 4], np.int64)
    return Episode(
        seed=1,
        seat=0,
        policy=PolicyId("a"),
        opponent=PolicyId("b"),
        score=1.0,
        observations=np.zeros((2, 1), np.float32),
        legal=ragged([3, 2], [1, 2, 5, 4, 8]),
        actions=actions,
        log_probs=np.zeros(2, np.float32),
        agreeing=agreeing,
    )


def test_what_agrees_comes_back_beside_episodes_that_are_known() -> None:
    partly, whole = episode(ragged([2, 1], [1, 5, 4])), replace(episode(None), seed=2)
    _, (first, second), notes = decode_with_notes(encode([partly, whole], SPACE, {"note": "text"}), "a part")
    assert notes == {"note": "text"}
    assert first.agreeing is not None
    assert second.agreeing is not None
    assert [first.agreeing[row].tolist() for row in range(2)] == [[1, 5], [4]]
    assert [second.agreeing[row].tolist() for row in range(2)] == [[1], [4]]


def test_known_episodes_alone_have_none() -> None:
    _, (read,) = decode(encode([episode(None)], SPACE), "a part")
    assert read.agreeing is None


@pytest.mark.parametrize(
    "agreeing",
    [ragged([2, 1], [2, 5, 4]), ragged([2, 1], [1, 3, 4]), ragged([2, 1], [5, 1, 4]), ragged([2, 0], [1, 5])],
    ids=["without the action", "illegal", "out of order", "empty"],
)
def test_damaged_lists_are_refused(agreeing: LegalActions) -> None:
    with pytest.raises(DataError):
        decode(encode([episode(agreeing)], SPACE), "a part")
