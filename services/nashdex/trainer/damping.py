"""Damping: how strongly each update is held back, as data.

A coefficient is composed, never overwritten: β_k = clip(s_k · m_k, floor, cap) · min(1, k / warm-up), where s_k is a
schedule and m_k a multiplier that controllers change and checkpoints keep.
"""

import copy
import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.core.settings import DampingSettings
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.network import ActorCritic


@dataclass(frozen=True)
class Coefficient:
    """One coefficient over optimiser steps."""

    initial: float
    power: float = 0.0
    """α of s_k = initial · (1 + k/k₀)^(−α); 0 for a constant."""
    decay_updates: float = 1.0
    """k₀."""
    floor: float = 0.0
    cap: float = float("inf")
    warmup_updates: int = 0

    def at(self, update: int, multiplier: float = 1.0) -> float:
        """Return the coefficient of optimiser step ``update``, counted from 0."""
        scheduled = self.initial * math.pow(1.0 + update / self.decay_updates, -self.power)
        warmth = min(1.0, update / self.warmup_updates) if self.warmup_updates else 1.0
        return min(max(scheduled * multiplier, self.floor), self.cap) * warmth


@dataclass(frozen=True)
class Damping:
    """A preset: the coefficients of one run's losses, and what the policy is held to."""

    reference: Literal["none", "snapshot"]
    beta_reference: Coefficient
    beta_old: Coefficient
    entropy: Coefficient


PRESETS = MappingProxyType(
    {
        "none": Damping("none", Coefficient(0.0), Coefficient(0.0), entropy=Coefficient(0.01)),
        "ppo-clip-kl": Damping("snapshot", Coefficient(0.02), Coefficient(0.0), entropy=Coefficient(0.01)),
    }
)


def resolve_damping(preset: str, overrides: DampingSettings) -> Damping:
    """Return the preset with the given overrides as constant coefficients.

    An override of ``beta_reference`` brings the reference that it needs; 0 removes it.
    """
    damping = PRESETS[preset]
    if overrides.beta_reference is not None:
        damping = replace(
            damping,
            reference="snapshot" if overrides.beta_reference > 0 else "none",
            beta_reference=Coefficient(overrides.beta_reference),
        )
    if overrides.beta_old is not None:
        damping = replace(damping, beta_old=Coefficient(overrides.beta_old))
    if overrides.entropy_coefficient is not None:
        damping = replace(damping, entropy=Coefficient(overrides.entropy_coefficient))
    return damping


class SnapshotReference:
    """A frozen copy of a whole network, its trunk included, as it is when the reference is made.

    Make it after weights are loaded. Each minibatch gets a full forward pass: log-probabilities kept since collection
    would be those of whoever collected.
    """

    def __init__(self, network: ActorCritic, policy: PolicyId) -> None:
        self.source = f"snapshot:{policy}"
        self._network = copy.deepcopy(network).eval().requires_grad_(requires_grad=False)
        self._fused = self._network.fuse()

    @torch.no_grad()
    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A) of observations (N, F) over the legal actions."""
        logits, _ = self._network(observations, self._fused)
        return masked_log_softmax(logits, masks)
