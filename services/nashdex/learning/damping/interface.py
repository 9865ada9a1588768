"""What damping consists of, and what a preset is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from nashdex.core.section import Section
from nashdex.learning.damping.controller import Controller, ControllerState, StepSizeController
from nashdex.learning.damping.schedule import Moment, Schedule

ReferenceKind = Literal["none", "snapshot", "ema", "uniform", "league", "portfolio"]
"""The policy ρ that KL(π‖ρ) holds the trained policy to."""


_EMA_DECAY = 0.999


class ReferenceCoefficient(Schedule):
    """β_ref, the coefficient of KL(π‖ρ)."""

    controller: Controller = Field(Controller(), description="Multiplies it so that KL(π‖ρ) meets a target.")

    def observe(self, state: ControllerState, kl_nats: float, moment: Moment) -> ControllerState:
        """Return its controller's state after one more measured KL.

        With a cap, the multiplier grows until the coefficient is at the cap, however far the schedule has fallen, and
        no further, so that the coefficient leaves the cap as soon as the KL is low again.
        """
        scheduled = self.scheduled(moment.decisions)
        if self.cap is None or scheduled <= 0:
            return self.controller.observe(state, kl_nats)
        return self.controller.observe(state, kl_nats, largest=max(self.cap / scheduled, self.controller.smallest))


class StepSize(Section):
    """The step size relative to the learning rate: (1 + k / decay_decisions)^(−power) after k decisions."""

    power: float = Field(0.0, ge=0, le=10, description="How fast it falls; 0 for a constant.")
    decay_decisions: float = Field(1.0, gt=0, description="Decisions over which it falls by a factor 2^power.")
    controller: StepSizeController = Field(
        StepSizeController(), description="Multiplies it so that KL(policy ‖ behaviour policy) meets a target."
    )


class Damping(Section):
    """The coefficients of a run's losses, what moves them, and what the policy is held to."""

    reference: ReferenceKind = Field(
        "none",
        description="ρ, the policy that the trained one is held to: itself at the start of the iteration (snapshot), a "
        "moving average of its parameters (ema), the uniform policy (uniform), the opponents' mixture (league), or the "
        "nearest of several (portfolio).",
    )
    beta: ReferenceCoefficient = Field(ReferenceCoefficient(), description="Coefficient of KL(policy ‖ reference).")
    beta_behaviour: float = Field(0.0, ge=0, description="Coefficient of KL(policy ‖ behaviour policy).")
    entropy: Schedule = Field(Schedule(initial=0.01), description="Coefficient of the entropy bonus.")
    step_size: StepSize = Field(StepSize(), description="Schedule and controller of the step size.")
    snapshot: Literal["iteration", "round"] = Field(
        "iteration",
        description="When the snapshot reference is taken: at the start of the iteration, or of each round. Over many "
        "rounds a policy that is held near its start stops learning.",
    )
    ema_decay: float = Field(_EMA_DECAY, ge=0, le=1, description="Share that the ema reference keeps at a step.")
    clock: Literal["iteration", "run"] = Field(
        "iteration",
        description="Whether schedules and annealing refer to the training of the iteration or of the whole run.",
    )

    def learning_rate(self, initial: float) -> Schedule:
        """Return the step size over a training."""
        return Schedule(initial=initial, power=self.step_size.power, decay_decisions=self.step_size.decay_decisions)

    def is_warm(self, moment: Moment) -> bool:
        """Say whether controllers may act: they wait until β_ref, if there is a reference, has warmed up."""
        return self.reference == "none" or moment.update >= self.beta.warmup_updates

    def coefficients(self, moment: Moment, multiplier: float = 1.0, entropy_share: float = 1.0) -> "Coefficients":
        """Return the coefficients at ``moment``.

        ``multiplier`` is that of β_ref's controller, and ``entropy_share`` what annealing leaves of the entropy bonus.
        """
        beta = 0.0 if self.reference == "none" else self.beta.at(moment, multiplier)
        return Coefficients(beta, self.beta_behaviour, self.entropy.at(moment, entropy_share))

    def problems(self) -> Iterator[str]:
        """Yield what contradicts itself, by keys relative to the section of damping."""
        beta = self.beta
        if self.reference != "none" and max(beta.initial, beta.floor) == 0:
            yield (
                f"reference is {self.reference!r} and beta.initial is 0, so the reference has no effect; set "
                "beta.initial above 0, or reference = 'none'"
            )
        if self.reference == "none" and beta.initial > 0:
            yield f"beta.initial is {beta.initial:g} and reference is 'none'; name a reference, or leave beta out"
        if self.reference == "none" and beta.controller.is_on:
            yield (
                f"beta.controller.target_nats is {beta.controller.target_nats:g} and reference is 'none', so there is "
                "no KL to control; name a reference, or leave the controller out"
            )
        if self.reference == "ema" and self.ema_decay == 1:
            yield (
                "reference is 'ema' and ema_decay is 1, so the average never moves; expected ema_decay below 1, or "
                "reference = 'snapshot'"
            )
        if self.reference != "ema" and self.ema_decay != _EMA_DECAY:
            yield f"ema_decay is {self.ema_decay:g} and reference is {self.reference!r}; leave it out, or use 'ema'"
        if self.snapshot == "round" and self.reference != "snapshot":
            yield (
                f"snapshot is 'round' and reference is {self.reference!r}; leave it out, or use reference = 'snapshot'"
            )
        yield from self._of_bounds()

    def _of_bounds(self) -> Iterator[str]:
        """Yield bounds that contradict each other."""
        beta = self.beta
        for name, schedule in (("beta", beta), ("entropy", self.entropy)):
            if schedule.cap is not None and schedule.floor > schedule.cap:
                yield (
                    f"{name}.floor is {schedule.floor:g}, above {name}.cap, which is {schedule.cap:g}; expected at "
                    "most the cap"
                )
        if beta.cap is not None and beta.controller.largest != Controller().largest:
            yield (
                f"beta.controller.largest is {beta.controller.largest:g} and beta.cap {beta.cap:g}, which bounds the "
                "multiplier; leave one out"
            )
        for name, controller in (("beta", beta.controller), ("step_size", self.step_size.controller)):
            yield from (f"{name}.controller.{problem}" for problem in controller.problems())


@dataclass(frozen=True)
class Coefficients:
    """The weights of one update's losses."""

    beta_reference: float
    beta_behaviour: float
    entropy: float


@dataclass(frozen=True)
class Preset:
    """An entry of the registry of presets: damping under a name. This is the whole of its surface."""

    summary: str
    """What it does, in one line, for the documentation."""
    damping: Damping
