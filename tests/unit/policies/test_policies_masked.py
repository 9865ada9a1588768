"""Distributions over legal actions: entropy, KL divergence and their gradients."""

import numpy as np
import pytest
import torch

from nashdex.policies.masked import entropy, kl_divergence, masked_log_softmax, masked_logits, uniform_log_probs


def test_kl_from_uniform_is_the_known_answer_and_log_of_the_legal_actions_minus_entropy() -> None:
    mask = torch.tensor([[True, True, True, False]])
    log_probs = masked_log_softmax(torch.tensor([[2.0, 1.0, 0.0, 50.0]]), mask)
    divergence = kl_divergence(log_probs, uniform_log_probs(mask), mask)
    assert divergence.item() == pytest.approx(0.2662167, abs=1e-6)
    assert divergence.item() == pytest.approx(np.log(3) - entropy(log_probs, mask).item(), abs=1e-6)


def test_the_mask_forbids_and_does_not_favour() -> None:
    """The mask added with the wrong sign would leave the illegal actions as the only ones."""
    mask = torch.tensor([[True, False, True]])
    probs = masked_log_softmax(torch.tensor([[0.0, 5.0, 0.0]]), mask).exp()
    assert probs.tolist() == [[0.5, 0.0, 0.5]]


def test_the_normaliser_counts_legal_actions_alone() -> None:
    mask = torch.tensor([[True, False, True], [False, True, False]])
    logits = torch.tensor([[1.0, 50.0, 2.0], [50.0, 3.0, 50.0]])
    log_z = masked_logits(logits, mask).logsumexp(dim=1)
    assert log_z.tolist() == pytest.approx([np.log(np.exp(1.0) + np.exp(2.0)), 3.0])


def test_one_legal_action_has_no_entropy_and_no_divergence() -> None:
    mask = torch.tensor([[False, True, False]])
    one = masked_log_softmax(torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True), mask)
    other = masked_log_softmax(torch.tensor([[3.0, -2.0, 1.0]]), mask)
    assert entropy(one, mask).item() == 0.0
    assert kl_divergence(one, other, mask).item() == 0.0


def test_gradients_of_masked_quantities_are_finite() -> None:
    mask = torch.tensor([[True, False, True], [False, True, False]])
    logits = torch.zeros(2, 3, requires_grad=True)
    log_probs = masked_log_softmax(logits, mask)
    reference = masked_log_softmax(torch.tensor([[1.0, 2.0, 3.0]]).repeat(2, 1), mask)
    (entropy(log_probs, mask) + kl_divergence(log_probs, reference, mask)).sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[~mask] == 0).all()
