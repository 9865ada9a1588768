"""Damping: how strongly each update is held back. A preset gives all values; keys beside it override some."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from nashdex.core.plugins import Registry
from nashdex.core.section import NameOf, Section
from nashdex.core.user_input import merge

ReferenceKind = Literal["none", "snapshot", "round-snapshot", "ema", "uniform", "hierarchical", "league", "portfolio"]
"""The reference ρ of the trained policy, in KL(π‖ρ)."""


class ReferenceCoefficient(Section):
    """β_ref, the coefficient of KL(π‖ρ): initial / √(1 + k / decay_decisions) after k decisions, bounded."""

    initial: float = Field(0.0, ge=0, description="Value at the first optimiser step.")
    decay_decisions: float = Field(0.0, ge=0, description="Decisions over which it falls by a factor √2; 0: never.")
    floor: float = Field(0.0, ge=0, description="Lower bound.")
    warmup_updates: int = Field(0, ge=0, description="Optimiser steps over which it grows from 0.")
    target_nats: float = Field(
        0.0,
        ge=0,
        description="Target of a controller of KL(policy ‖ reference), which moves the coefficient, up to 10 times the "
        "initial value; 0: no controller.",
    )


class Damping(Section):
    """The coefficients of a run's losses, their schedules and controllers, and the policy's reference."""

    reference: ReferenceKind = Field(
        "none",
        description="ρ, the reference of the trained policy: itself at the start of the iteration (snapshot) or of "
        "each round (round-snapshot), a moving average of its parameters (ema), the uniform policy (uniform), uniform "
        "over the kinds of actions and then within the kind (hierarchical), the opponents' mixture (league), or the "
        "nearest of several (portfolio). Over many rounds, a reference at the start of the iteration stops the "
        "learning.",
    )
    reference_every_rounds: int = Field(
        1, ge=1, description="Rounds from one copy of reference = 'round-snapshot' to the next."
    )
    beta: ReferenceCoefficient = Field(ReferenceCoefficient(), description="Coefficient of KL(policy ‖ reference).")
    entropy: float = Field(0.01, ge=0, description="Coefficient of the entropy bonus; `annealing.entropy` lowers it.")
    step_target_nats: float = Field(
        0.0,
        ge=0,
        description="Target of a controller of KL(policy ‖ policy at the round's start), which moves the step size; 0: "
        "no controller.",
    )
    clock: Literal["iteration", "run"] = Field(
        "iteration",
        description="Whether schedules and annealing refer to the training of the iteration or of the whole run.",
    )

    def problems(self) -> Iterator[str]:
        """Yield contradictions, by keys relative to the section of damping."""
        beta = self.beta
        if self.reference != "round-snapshot" and self.reference_every_rounds != 1:
            yield f"reference_every_rounds has no effect with reference = {self.reference!r}: leave it out"
        if self.reference == "none" and beta != ReferenceCoefficient():
            yield "beta has no effect with reference = 'none': leave it out, or name a reference"
        if self.reference != "none" and max(beta.initial, beta.floor) == 0:
            yield f"reference {self.reference!r} has no effect with beta.initial = 0: set beta.initial, or leave it out"
        elif beta.initial == 0:
            for key in ("decay_decisions", "target_nats"):
                if getattr(beta, key):
                    yield (
                        f"beta.{key} has no effect with beta.initial = 0, where the coefficient stays at beta.floor: "
                        f"set beta.initial, or beta.{key} = 0"
                    )


@dataclass(frozen=True)
class Preset:
    """An entry of the registry of presets: damping under a name. This is the whole of its surface."""

    summary: str
    """One line about its effect, for the documentation."""
    damping: Damping


_PRESETS: Final = "nashdex.settings.damping"

DAMPING_PRESETS: Final = Registry(
    "nashdex.damping_presets",
    "damping preset",
    Preset,
    {
        "none": f"{_PRESETS}:NONE",
        "ppo-clip-kl": f"{_PRESETS}:PPO_CLIP_KL",
        "kl-warmup": f"{_PRESETS}:KL_WARMUP",
        "adaptive-kl": f"{_PRESETS}:ADAPTIVE_KL",
        "s0-damped": f"{_PRESETS}:S0_DAMPED",
        "ema-magnet": f"{_PRESETS}:EMA_MAGNET",
        "portfolio": f"{_PRESETS}:PORTFOLIO",
    },
)
"""Presets by name, of nashdex and of installed packages."""

_DEFAULT = "ppo-clip-kl"


class DampingSettings(Damping):
    """A damping preset and overrides of it: a missing key keeps the preset's value."""

    preset: Annotated[str, NameOf(DAMPING_PRESETS)] = Field(_DEFAULT, description="Where the other values come from.")

    @model_validator(mode="before")
    @classmethod
    def _over_the_preset(cls, given: Any) -> Any:  # noqa: ANN401 - any value of the settings
        """Return the preset's values, overridden by the given ones.

        Where no reference is given, a coefficient above 0 selects the snapshot if the preset has no reference, and a
        coefficient of 0 removes the reference. Without a reference the preset's coefficient goes too.
        """
        if not isinstance(given, Mapping) or given.get("preset", _DEFAULT) not in DAMPING_PRESETS:
            return given  # the fields say what is wrong
        merged = merge(DAMPING_PRESETS[given.get("preset", _DEFAULT)].damping.model_dump(), given)
        beta = given.get("beta", {})
        if "reference" not in given and isinstance(beta, Mapping) and "initial" in beta:
            if _is_zero(beta["initial"]):
                merged["reference"] = "none"
            elif merged["reference"] == "none":
                merged["reference"] = "snapshot"
        if merged["reference"] == "none":
            merged["beta"] = beta
        return merged

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "DampingSettings":
        for problem in self.problems():
            raise ValueError(problem)
        return self


def _is_zero(value: object) -> bool:
    """Say whether a value of the settings, a number or its text, is 0."""
    try:
        return float(value) == 0  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


NONE = Preset("no reference; entropy 0.01", Damping())

PPO_CLIP_KL = Preset("β 0.02", Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02)))

KL_WARMUP = Preset(
    "β 0.02, from 0 over 20 updates",
    Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02, warmup_updates=20)),
)

ADAPTIVE_KL = Preset(
    "β 0.02 after a warm-up of 10 updates, with a controller around 0.02 nats",
    Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02, warmup_updates=10, target_nats=0.02)),
)

S0_DAMPED = Preset(
    "β from 0.05, which halves in 3 · 10⁶ decisions of the run; controllers of β and of the step size around 0.01 nats",
    Damping(
        reference="snapshot",
        beta=ReferenceCoefficient(initial=0.05, decay_decisions=1e6, target_nats=0.01),
        step_target_nats=0.01,
        clock="run",
    ),
)

EMA_MAGNET = Preset("β 0.02", Damping(reference="ema", beta=ReferenceCoefficient(initial=0.02)))

PORTFOLIO = Preset("β 0.02", Damping(reference="portfolio", beta=ReferenceCoefficient(initial=0.02)))
