"""Controllers: they move a multiplier so that a KL stays near a target.

A controller judges the mean of ``WINDOW_UPDATES`` KLs at a time, so that a change has shown its effect before the next.
"""

import math
from dataclasses import dataclass
from typing import Final

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.learning.damping.schedule import Moment, cap_of, scheduled
from nashdex.settings.damping import ReferenceCoefficient

WINDOW_UPDATES: Final = 10
"""Optimiser steps whose mean KL is judged."""
SLACK: Final = 1.5
"""How far above or below the target a mean may be without effect."""


class ControllerState(Model):
    """The state of a controller. Checkpoints keep it."""

    multiplier: NonNegativeFloat = 1.0
    total_nats: float = 0.0
    num_updates: NonNegativeInt = 0
    """Number of KLs in ``total_nats``."""

    @property
    def average_nats(self) -> float:
        """The mean KL since the last judgement."""
        return self.total_nats / self.num_updates if self.num_updates else 0.0


@dataclass(frozen=True)
class Controller:
    """How a multiplier moves."""

    when_above: float
    """Factor for a mean above the target."""
    when_below: float
    """Factor for a mean below the target."""
    smallest: float
    largest: float
    """Bounds of the multiplier."""

    def observe(
        self, state: ControllerState, kl_nats: float, target_nats: float, largest: float | None = None
    ) -> ControllerState:
        """Return the state after one more measured KL; one that is not finite is ignored.

        ``largest`` bounds the multiplier instead of the controller's own.
        """
        if not math.isfinite(kl_nats):
            return state
        total, num = state.total_nats + kl_nats, state.num_updates + 1
        if num < WINDOW_UPDATES:
            return ControllerState(multiplier=state.multiplier, total_nats=total, num_updates=num)
        average, factor = total / num, 1.0
        if average > SLACK * target_nats:
            factor = self.when_above
        elif average < target_nats / SLACK:
            factor = self.when_below
        multiplier = max(state.multiplier * factor, self.smallest)
        return ControllerState(multiplier=min(multiplier, self.largest if largest is None else largest))


OF_BETA: Final = Controller(when_above=1.5, when_below=0.9, smallest=0.1, largest=10.0)
"""Above the target the coefficient grows fast, below it falls back slowly."""
OF_STEP_SIZE: Final = Controller(when_above=0.5, when_below=1.1, smallest=0.01, largest=1.0)
"""Above the target the step shrinks at once, below it grows back slowly, never beyond what was set."""


def observe_reference(
    beta: ReferenceCoefficient, state: ControllerState, kl_nats: float, moment: Moment
) -> ControllerState:
    """Return the state of β_ref's controller after one more measured KL.

    The multiplier grows until the coefficient is at its cap, however far the schedule has fallen, and no further, so
    that the coefficient leaves the cap as soon as the KL is low again.
    """
    unbounded = scheduled(beta, moment.decisions)
    largest = max(cap_of(beta) / unbounded, OF_BETA.smallest) if unbounded > 0 else None
    return OF_BETA.observe(state, kl_nats, beta.target_nats, largest)
