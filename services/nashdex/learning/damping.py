"""Damping: how strongly each update is held back, as data. A preset is an entry of the registry.

A coefficient is composed, never overwritten: β_k = clip(s_k · m_k, floor, max(floor, 10 · initial)) ·
min(1, k / warm-up), where s_k is a schedule. A controller moves the multiplier m_k, and checkpoints keep it. The step
size is composed the same way. Imports no torch.
"""

import math
from dataclasses import dataclass
from typing import Final

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.settings.damping import Damping, ReferenceCoefficient

_POWER: Final = 0.5
"""β_ref falls as 1/√k, the rate for which the last iterate of damped self-play converges (arXiv 2206.05825)."""
_LARGEST_FACTOR: Final = 10.0
"""β_ref is at most this many times its initial value: beyond it, the KL outweighs the rest of the loss."""


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


@dataclass(frozen=True)
class Coefficients:
    """The weights of one update's losses."""

    beta_reference: float
    entropy: float


def coefficients(damping: Damping, moment: Moment, multiplier: float = 1.0, entropy_share: float = 1.0) -> Coefficients:
    """Return the coefficients at ``moment``.

    ``multiplier`` is β_ref's controller's, and ``entropy_share`` what annealing leaves of the entropy bonus.
    """
    beta = 0.0 if damping.reference == "none" else beta_at(damping.beta, moment, multiplier)
    return Coefficients(beta, damping.entropy * entropy_share)


def is_warm(damping: Damping, moment: Moment) -> bool:
    """Say whether controllers may act: they wait until β_ref, if there is a reference, has warmed up."""
    return damping.reference == "none" or moment.update >= damping.beta.warmup_updates


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
