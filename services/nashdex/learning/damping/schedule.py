"""One coefficient over a training."""

import math
from dataclasses import dataclass

from pydantic import Field

from nashdex.core.section import Section


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a training, as schedules see it."""

    update: int = 0
    """Optimiser steps so far."""
    decisions: float = 0.0
    """Decisions learned from so far. A decision counts once, in equal parts over its round's optimiser steps."""
    share: float = 0.0
    """Share of the training that is done, from 0 to 1."""


class Schedule(Section):
    """s_k = initial · (1 + k / decay_decisions)^(−power) after k decisions, within bounds."""

    initial: float = Field(0.0, ge=0, description="Value at the first optimiser step.")
    power: float = Field(0.0, ge=0, le=10, description="How fast it falls; 0 for a constant.")
    decay_decisions: float = Field(1.0, gt=0, description="Decisions over which it falls by a factor 2^power.")
    floor: float = Field(0.0, ge=0, description="Lower bound.")
    cap: float | None = Field(None, ge=0, description="Upper bound.")
    warmup_updates: int = Field(0, ge=0, description="Optimiser steps over which it grows from 0.")

    def scheduled(self, decisions: float) -> float:
        """Return s_k after ``decisions``, without bounds and warm-up."""
        return self.initial * math.pow(1.0 + decisions / self.decay_decisions, -self.power)

    def at(self, moment: Moment, multiplier: float = 1.0) -> float:
        """Return the coefficient at ``moment``; ``multiplier`` is a controller's, or of annealing."""
        warmth = min(1.0, moment.update / self.warmup_updates) if self.warmup_updates else 1.0
        cap = math.inf if self.cap is None else self.cap
        return min(max(self.scheduled(moment.decisions) * multiplier, self.floor), cap) * warmth
