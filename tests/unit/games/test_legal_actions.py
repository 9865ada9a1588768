"""Ragged lists of legal actions, against masks; and the decisions frame that carries them."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.games.legal import LegalActions
from nashdex.games.showdown.frames import ChannelClosedError
from nashdex.games.showdown.gateway import decode_decisions
from support.spaces import tiny_space


@st.composite
def masks(draw: st.DrawFn) -> np.ndarray:
    rows, actions = draw(st.integers(0, 6)), draw(st.sampled_from([1, 3, 300]))
    mask = np.random.default_rng(draw(st.integers(0, 99))).random((rows, actions)) < 0.4
    mask[:, draw(st.integers(0, actions - 1))] = True
    return mask


@given(mask=masks(), seed=st.integers(0, 99))
def test_lists_say_the_same_as_a_mask(mask: np.ndarray, seed: int) -> None:
    legal = LegalActions.of_mask(mask)
    assert legal.problem() is None
    np.testing.assert_array_equal(legal.mask, mask)
    np.testing.assert_array_equal(LegalActions(legal.offsets, legal.actions, legal.num_actions).mask, mask)
    for row in range(len(mask)):
        np.testing.assert_array_equal(legal[row], np.flatnonzero(mask[row]))
    some = np.random.default_rng(seed).integers(0, max(len(mask), 1), 4 if len(mask) else 0)
    np.testing.assert_array_equal(legal.take(some).mask, mask[some])
    np.testing.assert_array_equal(legal.take(slice(1, 3)).mask, mask[1:3])
    np.testing.assert_array_equal(
        LegalActions.joined([legal, legal.take(some)], legal.num_actions).mask, np.concatenate([mask, mask[some]])
    )


@given(mask=masks(), seed=st.integers(0, 99))
def test_places_of_actions_in_their_lists(mask: np.ndarray, seed: int) -> None:
    legal = LegalActions.of_mask(mask)
    chosen = np.random.default_rng(seed).integers(0, mask.shape[1] + 1, len(mask))
    expected = [
        np.flatnonzero(row).tolist().index(action) if action < len(row) and row[action] else -1
        for row, action in zip(mask, chosen, strict=True)
    ]
    assert legal.places_of(chosen).tolist() == expected


def frame(ends: list[int], legal: list[int], *, size: int) -> memoryview:
    """Return a payload of decisions of seat 0 in battles 7, 8, ..."""
    count = len(ends)
    payload = struct.pack("<II", count, len(legal)) + struct.pack(f"<{count}I", *range(7, 7 + count))
    payload += struct.pack(f"<{count}I", *ends) + bytes(2 * count)
    payload += bytes(-len(payload) % 4) + bytes(4 * count * size) + struct.pack(f"<{len(legal)}H", *legal)
    return memoryview(payload)


def test_a_frame_carries_lists_of_legal_actions() -> None:
    space = tiny_space(4)
    decisions = decode_decisions(frame([2, 3, 6], [0, 3, 1, 0, 1, 2], size=space.observation_size), space)
    assert decisions.battle.tolist() == [7, 8, 9]
    assert [decisions.legal[row].tolist() for row in range(3)] == [[0, 3], [1], [0, 1, 2]]


@pytest.mark.parametrize(
    ("ends", "legal", "problem"),
    [
        ([2], [0, 4], "action 4 is beyond the 4 of the space"),
        ([2], [1, 0], "not in ascending order"),
        ([2], [1, 1], "not in ascending order"),
        ([0], [], "a decision has no legal action"),
        ([0, 2], [0, 1], "a decision has no legal action"),
        ([3], [0, 1], "end at 3, expected 2"),
        ([3, 2], [0, 1], "end at 2, expected 2"),
        ([], [1], "end at 0, expected 1"),
    ],
)
def test_impossible_lists_are_refused(ends: list[int], legal: list[int], problem: str) -> None:
    space = tiny_space(4)
    with pytest.raises(ChannelClosedError, match=problem):
        decode_decisions(frame(ends, legal, size=space.observation_size), space)


@pytest.mark.parametrize("cut", [0, 4, 8, 30])
def test_a_truncated_frame_is_refused(cut: int) -> None:
    space = tiny_space(4)
    whole = frame([2], [0, 3], size=space.observation_size)
    with pytest.raises(ChannelClosedError, match=r"which does not fit the space"):
        decode_decisions(whole[:cut], space)
