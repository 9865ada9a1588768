"""Damping: how strongly each update is held back, as data.

A coefficient is composed, never overwritten: β_k = clip(s_k · m_k, floor, cap) · min(1, k / warm-up), where s_k is a
schedule and m_k a multiplier that a controller changes and checkpoints keep. The step size is composed the same way.
"""

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.trainer.settings import DampingSettings, ReferenceKind, TrainSettings


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

    def scheduled(self, update: int) -> float:
        """Return s_k of optimiser step ``update``, counted from 0."""
        return self.initial * math.pow(1.0 + update / self.decay_updates, -self.power)

    def at(self, update: int, multiplier: float = 1.0) -> float:
        """Return the coefficient of optimiser step ``update``, counted from 0."""
        warmth = min(1.0, update / self.warmup_updates) if self.warmup_updates else 1.0
        return min(max(self.scheduled(update) * multiplier, self.floor), self.cap) * warmth


class ControllerState(Model):
    """Where a controller stands. Checkpoints keep it."""

    multiplier: NonNegativeFloat = 1.0
    total_nats: float = 0.0
    num_updates: NonNegativeInt = 0
    """How many KLs ``total_nats`` sums."""

    @property
    def average_nats(self) -> float:
        """The mean KL since the multiplier was last judged."""
        return self.total_nats / self.num_updates if self.num_updates else 0.0


@dataclass(frozen=True)
class Controller:
    """Moves a multiplier so that a KL stays about its target.

    It judges the mean of ``window_updates`` KLs at a time, so that a change has shown its effect before the next.
    """

    target_nats: float
    when_above: float
    """Factor for a mean above 1.5 times the target."""
    when_below: float
    """Factor for a mean below the target over ``slack``."""
    slack: float
    window_updates: int = 10
    bounds: tuple[float, float] = (0.1, 10.0)

    def observe(self, state: ControllerState, kl_nats: float) -> ControllerState:
        """Return the state after one more measured KL; one that is not finite says nothing."""
        if not math.isfinite(kl_nats):
            return state
        total, num = state.total_nats + kl_nats, state.num_updates + 1
        if num < self.window_updates:
            return ControllerState(multiplier=state.multiplier, total_nats=total, num_updates=num)
        average, factor = total / num, 1.0
        if average > 1.5 * self.target_nats:
            factor = self.when_above
        elif average < self.target_nats / self.slack:
            factor = self.when_below
        smallest, largest = self.bounds
        return ControllerState(multiplier=min(max(state.multiplier * factor, smallest), largest))


@dataclass(frozen=True)
class Damping:
    """A preset: the coefficients of one run's losses, what moves them, and what the policy is held to."""

    reference: ReferenceKind = "none"
    beta_reference: Coefficient = Coefficient(0.0)
    beta_old: Coefficient = Coefficient(0.0)
    entropy: Coefficient = Coefficient(0.01)
    beta_controller: Controller | None = None
    """Driven by KL(π‖ρ)."""
    rate_controller: Controller | None = None
    """Driven by KL(π‖π_old)."""
    rate_power: float = 0.0
    """α of the step size's schedule."""
    rate_decay_updates: float = 1.0
    ema_decay: float = 0.999
    """τ of the reference that follows the parameters."""
    clock: Literal["iteration", "run"] = "iteration"
    """Whether schedules count the steps of this iteration, or go on from those of the iterations before."""

    def learning_rate(self, initial: float) -> Coefficient:
        """Return the step size over optimiser steps."""
        return Coefficient(initial, self.rate_power, self.rate_decay_updates)

    def is_warm(self, update: int) -> bool:
        """Say whether controllers may act: they are frozen while β_ref is not yet what it should be."""
        return update >= self.beta_reference.warmup_updates


_S0_STEPS = 1e6
_S0_BETA = Controller(target_nats=0.01, when_above=1.5, when_below=0.9, slack=1.5)
_S4_BETA = Controller(target_nats=0.02, when_above=1.5, when_below=1 / 1.5, slack=2.0)
# Above the target the step shrinks at once; below it, it grows back a little at a time.
_RATE = Controller(target_nats=0.01, when_above=0.5, when_below=1.1, slack=1.5, bounds=(0.01, 1.0))

PRESETS = MappingProxyType(
    {
        "none": Damping(),
        "s0-damped": Damping(
            "snapshot",
            Coefficient(0.05, power=0.5, decay_updates=_S0_STEPS, cap=0.5),
            entropy=Coefficient(0.01, power=0.7, decay_updates=_S0_STEPS, floor=0.001),
            beta_controller=_S0_BETA,
            rate_controller=_RATE,
            clock="run",
        ),
        "ppo-clip-kl": Damping("snapshot", Coefficient(0.02)),
        "kl-warmup": Damping("snapshot", Coefficient(0.02, warmup_updates=20)),
        "adaptive-kl": Damping("snapshot", Coefficient(0.02, warmup_updates=10), beta_controller=_S4_BETA),
        "ema-magnet": Damping("ema", Coefficient(0.02)),
        "portfolio": Damping("portfolio", Coefficient(0.02)),
    }
)
"""By the name that settings use. All clip normalised advantages at ``train.advantage_clip``."""


def resolve_damping(settings: TrainSettings) -> Damping:
    """Return the preset with the overrides that are given; each field that is not keeps the preset's value.

    An override of ``beta_reference`` brings the reference that it needs; 0 removes it.

    Raises:
        ConfigurationError: a reference without a coefficient, or the other way round.
    """
    damping, given = PRESETS[settings.preset], settings.damping
    beta = _changed(
        damping.beta_reference,
        initial=given.beta_reference,
        power=given.beta_power,
        decay_updates=given.beta_decay_updates,
        floor=given.beta_floor,
        cap=given.beta_cap,
        warmup_updates=given.beta_warmup_updates,
    )
    reference = given.reference or damping.reference
    if given.reference is None and given.beta_reference is not None:
        reference = "none" if given.beta_reference == 0 else "snapshot" if reference == "none" else reference
    changed = replace(
        damping,
        reference=reference,
        beta_reference=beta if reference != "none" else Coefficient(0.0),
        beta_old=_changed(damping.beta_old, initial=given.beta_old),
        entropy=_changed(
            damping.entropy,
            initial=given.entropy_coefficient,
            power=given.entropy_power,
            decay_updates=given.entropy_decay_updates,
            floor=given.entropy_floor,
        ),
        beta_controller=_aimed(damping.beta_controller, _S4_BETA, given.beta_target_nats),
        rate_controller=_aimed(damping.rate_controller, _RATE, given.learning_rate_target_nats),
        rate_power=_or(given.learning_rate_power, damping.rate_power),
        rate_decay_updates=_or(given.learning_rate_decay_updates, damping.rate_decay_updates),
        ema_decay=_or(given.ema_decay, damping.ema_decay),
        clock=given.clock or damping.clock,
    )
    _check(changed, given)
    return changed


def _check(damping: Damping, given: DampingSettings) -> None:
    beta = damping.beta_reference
    if damping.reference != "none" and max(beta.initial, beta.floor) == 0:
        raise ConfigurationError(
            f"train.damping.reference is {damping.reference!r} and its coefficient is 0, so it would have no effect; "
            "set train.damping.beta_reference above 0, or the reference to 'none'"
        )
    if given.reference == "none" and given.beta_reference:
        raise ConfigurationError(
            f"train.damping.beta_reference is {given.beta_reference:g} and the reference is 'none'; name a reference, "
            "or leave the coefficient out"
        )
    if beta.floor > beta.cap:
        raise ConfigurationError(
            f"train.damping.beta_floor is {beta.floor:g}, above the cap of {beta.cap:g}; expected at most the cap"
        )


def _changed(coefficient: Coefficient, **changes: float | None) -> Coefficient:
    """Return ``coefficient`` with the changes that are given."""
    return replace(coefficient, **{name: value for name, value in changes.items() if value is not None})  # type: ignore[arg-type]


def _aimed(controller: Controller | None, usual: Controller, target_nats: float | None) -> Controller | None:
    """Return the controller with another target; 0 switches it off, any other brings the usual one where none is."""
    if target_nats is None:
        return controller
    return replace(controller or usual, target_nats=target_nats) if target_nats > 0 else None


def _or(given: float | None, preset: float) -> float:
    return preset if given is None else given


@dataclass(frozen=True)
class Coefficients:
    """The weights of one update's losses."""

    beta_reference: float
    beta_old: float
    entropy: float

    @staticmethod
    def at(damping: Damping, update: int, multiplier: float = 1.0) -> "Coefficients":
        """Return the coefficients of optimiser step ``update``; ``multiplier`` is that of the β controller."""
        return Coefficients(
            damping.beta_reference.at(update, multiplier), damping.beta_old.at(update), damping.entropy.at(update)
        )
