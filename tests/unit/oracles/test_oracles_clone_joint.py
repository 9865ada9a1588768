"""Cloning joint decisions of which a log shows only a part."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from nashdex.core.ids import replayed_policy
from nashdex.games.legal import LegalActions
from nashdex.learning.experience.batching import CPU, Batch, make_batch
from nashdex.oracles.clone import _imitation, frequent_hits, most_frequent_accuracy
from nashdex.trajectory.episode import Episode
from nashdex_bench.cloning import slot_choices, slot_probabilities

SIZE = 4
"""Choices of a slot; pair (a, b) is 4a + b."""
LEGAL = [1 * SIZE + 2, 1 * SIZE + 3, 2 * SIZE + 2]
WHO = replayed_policy("1200-1399")


def ragged(rows: list[list[int]]) -> LegalActions:
    counts = np.array([len(row) for row in rows], np.int64)
    return LegalActions.of_counts(counts, np.concatenate([np.array(row, np.uint16) for row in rows]), SIZE**2)


def batch_of(agreeing: list[list[int]]) -> Batch:
    """Return decisions with the same three legal pairs; those in ``agreeing`` may be the chosen one."""
    num = len(agreeing)
    episode = Episode(
        seed=1,
        seat=0,
        policy=WHO,
        opponent=WHO,
        score=1.0,
        observations=np.zeros((num, 1), np.float32),
        legal=ragged([LEGAL] * num),
        actions=np.array([row[0] for row in agreeing], np.int64),
        log_probs=np.zeros(num, np.float32),
        agreeing=ragged(agreeing),
    )
    return make_batch([episode], CPU, num_slots=2)


LOG_PROBS = torch.tensor([0.5, 0.3, 0.2]).log()


def test_the_loss_sums_over_the_pairs_that_agree() -> None:
    """The first slot is known to choose 1: pairs (1, 2) and (1, 3) agree."""
    loss, _ = _imitation(LOG_PROBS.expand(1, 3), batch_of([LEGAL[:2]]))
    assert loss.item() == pytest.approx(-np.log(0.8), abs=1e-6)


def test_the_loss_of_a_known_pair_is_that_of_single_battles() -> None:
    batch = batch_of([[LEGAL[1]]])
    loss, _ = _imitation(LOG_PROBS.expand(1, 3), batch)
    plain, _ = _imitation(LOG_PROBS.expand(1, 3), replace(batch, agreeing=None))
    assert loss.item() == pytest.approx(plain.item()) == pytest.approx(-np.log(0.3), abs=1e-6)


def test_a_choice_of_which_nothing_is_known_teaches_nothing() -> None:
    scores = torch.zeros(1, 3, requires_grad=True)
    loss, _ = _imitation(scores.log_softmax(dim=1), batch_of([LEGAL]))
    loss.backward()
    assert scores.grad is not None
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    assert scores.grad.abs().max().item() == pytest.approx(0.0, abs=1e-6)


def test_accuracy_counts_wholly_known_decisions() -> None:
    _, accuracy = _imitation(LOG_PROBS.expand(3, 3), batch_of([[LEGAL[0]], [LEGAL[1]], LEGAL[:2]]))
    assert accuracy.item() == pytest.approx(0.5)


def test_the_most_frequent_legal_action_is_the_reference() -> None:
    lesson = batch_of([[LEGAL[2]], [LEGAL[2]], [LEGAL[0]], LEGAL[:2]])
    validation = batch_of([[LEGAL[2]], [LEGAL[1]], LEGAL])
    assert frequent_hits(lesson, validation)[:2].tolist() == [1.0, 0.0]
    assert most_frequent_accuracy(lesson, validation) == pytest.approx(0.5)


def test_a_slot_is_known_if_all_agreeing_pairs_share_its_choice() -> None:
    batch = batch_of([LEGAL[:2], [LEGAL[2]]])
    legal, first = slot_choices(batch, 0, SIZE)
    _, second = slot_choices(batch, 1, SIZE)
    assert (first.tolist(), second.tolist()) == ([1, 2], [-1, 2])
    assert legal[0].tolist() == [False, True, True, False]
    probabilities = slot_probabilities(LOG_PROBS.expand(2, 3), batch, 0, SIZE)
    assert torch.allclose(probabilities[0], torch.tensor([0.0, 0.8, 0.2, 0.0]))
