"""One coefficient over optimiser steps."""

import math

from pydantic import Field

from nashdex.core.section import Section


class Schedule(Section):
    """s_k = initial · (1 + k / decay_updates)^(−power) at optimiser step k, counted from 0, within bounds."""

    initial: float = Field(0.0, ge=0, description="Value at the first optimiser step.")
    power: float = Field(0.0, ge=0, le=10, description="How fast it falls; 0 for a constant.")
    decay_updates: float = Field(1.0, gt=0, description="Optimiser steps over which it falls by a factor 2^power.")
    floor: float = Field(0.0, ge=0, description="Lower bound.")
    cap: float | None = Field(None, ge=0, description="Upper bound.")
    warmup_updates: int = Field(0, ge=0, description="Optimiser steps over which it grows from 0.")

    def scheduled(self, update: int) -> float:
        """Return s_k at optimiser step ``update``, without bounds and warm-up."""
        return self.initial * math.pow(1.0 + update / self.decay_updates, -self.power)

    def at(self, update: int, multiplier: float = 1.0) -> float:
        """Return the coefficient at optimiser step ``update``; ``multiplier`` is a controller's."""
        warmth = min(1.0, update / self.warmup_updates) if self.warmup_updates else 1.0
        cap = math.inf if self.cap is None else self.cap
        return min(max(self.scheduled(update) * multiplier, self.floor), cap) * warmth
