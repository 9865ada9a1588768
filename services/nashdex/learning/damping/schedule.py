"""Values that change over a training."""

import math
from dataclasses import dataclass
from typing import Final

from nashdex.settings.damping import ReferenceCoefficient

_POWER: Final = 0.5
"""β_ref falls as 1/√k, the rate for which the last iterate of damped self-play converges (arXiv 2206.05825)."""
_LARGEST_FACTOR: Final = 10.0
"""β_ref is at most this many times its initial value: beyond it, the KL outweighs what there is to learn."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a training, as schedules see it."""

    update: int = 0
    """Optimiser steps so far."""
    decisions: float = 0.0
    """Decisions learned from so far. A decision counts once, in equal parts over its round's optimiser steps."""
    share: float = 0.0
    """Share of the training that is done, from 0 to 1."""


def annealed(share_left: float, moment: Moment) -> float:
    """Return the factor at ``moment`` of a value that falls linearly to ``share_left`` of itself."""
    return 1.0 + (share_left - 1.0) * moment.share


def scheduled(beta: ReferenceCoefficient, decisions: float) -> float:
    """Return β_ref after ``decisions``, without bounds and warm-up."""
    if beta.decay_decisions == 0:
        return beta.initial
    return beta.initial * math.pow(1.0 + decisions / beta.decay_decisions, -_POWER)


def cap_of(beta: ReferenceCoefficient) -> float:
    """Return the largest value of β_ref."""
    return max(_LARGEST_FACTOR * beta.initial, beta.floor)


def beta_at(beta: ReferenceCoefficient, moment: Moment, multiplier: float = 1.0) -> float:
    """Return β_ref at ``moment``; ``multiplier`` is its controller's."""
    warmth = min(1.0, moment.update / beta.warmup_updates) if beta.warmup_updates else 1.0
    return min(max(scheduled(beta, moment.decisions) * multiplier, beta.floor), cap_of(beta)) * warmth
