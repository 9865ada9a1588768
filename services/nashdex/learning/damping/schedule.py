"""Values that change over a training."""

import math
from dataclasses import dataclass

from nashdex.settings.damping import ReferenceCoefficient


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
    return beta.initial * math.pow(1.0 + decisions / beta.decay_decisions, -beta.power)


def beta_at(beta: ReferenceCoefficient, moment: Moment, multiplier: float = 1.0) -> float:
    """Return β_ref at ``moment``; ``multiplier`` is its controller's."""
    warmth = min(1.0, moment.update / beta.warmup_updates) if beta.warmup_updates else 1.0
    cap = math.inf if beta.cap is None else beta.cap
    return min(max(scheduled(beta, moment.decisions) * multiplier, beta.floor), cap) * warmth
