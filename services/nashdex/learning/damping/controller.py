"""Controllers: they move a multiplier so that a KL stays near a target."""

import math
from collections.abc import Iterator

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.section import Section, changed_keys


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


class Controller(Section):
    """Moves a multiplier so that a KL stays near its target.

    It judges the mean of ``window_updates`` KLs at a time, so that a change has shown its effect before the next.
    """

    target_nats: float = Field(0.0, ge=0, description="KL to aim at; 0 for no controller.")
    when_above: float = Field(1.5, gt=0, description="Factor for a mean above 1.5 times the target.")
    when_below: float = Field(1 / 1.5, gt=0, description="Factor for a mean below the target divided by `slack`.")
    slack: float = Field(2.0, ge=1, description="How far below the target a mean may be without effect.")
    window_updates: int = Field(10, ge=1, description="Optimiser steps whose mean KL is judged.")
    smallest: float = Field(0.1, gt=0, description="Lower bound of the multiplier.")
    largest: float = Field(
        10.0,
        gt=0,
        description="Upper bound of the multiplier of a coefficient without a cap; with a cap, the cap is the bound.",
    )

    @property
    def is_on(self) -> bool:
        """Whether there is a target."""
        return self.target_nats > 0

    def problems(self) -> Iterator[str]:
        """Yield what contradicts itself, by keys relative to the controller's section."""
        if not self.is_on:
            for name in changed_keys(self):
                yield f"{name} has no effect with target_nats = 0: leave it out, or set a target"
        if self.smallest > self.largest:
            yield f"smallest is {self.smallest:g}, above largest, which is {self.largest:g}; expected at most that"

    def observe(self, state: ControllerState, kl_nats: float, largest: float | None = None) -> ControllerState:
        """Return the state after one more measured KL; one that is not finite is ignored.

        ``largest`` bounds the multiplier instead of the controller's own.
        """
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
        multiplier = max(state.multiplier * factor, self.smallest)
        return ControllerState(multiplier=min(multiplier, self.largest if largest is None else largest))


class StepSizeController(Controller):
    """A controller of the step size: above the target the step shrinks at once, below it grows back slowly."""

    when_above: float = Field(0.5, gt=0, description="Factor for a mean above 1.5 times the target.")
    when_below: float = Field(1.1, gt=0, description="Factor for a mean below the target divided by `slack`.")
    slack: float = Field(1.5, ge=1, description="How far below the target a mean may be without effect.")
    smallest: float = Field(0.01, gt=0, description="Lower bound of the multiplier.")
    largest: float = Field(1.0, gt=0, description="Upper bound of the multiplier.")
