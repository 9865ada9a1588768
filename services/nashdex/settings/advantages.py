"""Advantage estimators of PPO."""

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from nashdex.core.section import Choice, Kinds, OneOf

Stratum = Literal["policy", "opponent", "turn", "faints", "teams"]


class GaeSettings(Choice):
    """Generalised advantage estimation."""

    kind: Literal["gae"] = "gae"
    lam: float = Field(0.95, ge=0, le=1, description="λ: 0 trusts the critic, 1 the returns.")


class VTraceSettings(Choice):
    """V-trace, for battles of older weights."""

    kind: Literal["v-trace"] = "v-trace"
    lam: float = Field(0.95, ge=0, le=1, description="λ: 0 trusts the critic, 1 the returns.")
    rho_bar: float = Field(
        1.0, gt=0, description="ρ̄: bound of a decision's own importance ratio; higher has less bias."
    )
    c_bar: float = Field(
        1.0, gt=0, description="c̄: bound of the ratios that weight later decisions; lower has less variance."
    )

    @model_validator(mode="after")
    def _bounds_agree(self) -> "VTraceSettings":
        if self.c_bar > self.rho_bar:
            raise ValueError(f"c_bar is {self.c_bar:g} and rho_bar {self.rho_bar:g}; expected c_bar at most rho_bar")
        return self


class GroupRelativeSettings(Choice):
    """Returns relative to the mean return of a group of comparable decisions."""

    kind: Literal["group-relative"] = "group-relative"
    strata: tuple[Stratum, ...] = Field(
        ("policy", "opponent", "turn", "faints", "teams"),
        min_length=1,
        description="Properties that a group's decisions share, the most important first: the acting weights, the "
        "opponent, the turn's bucket, the difference of Pokémon left, both teams.",
    )
    turns_a_bucket: int = Field(5, ge=1, description="Turns that count as the same.")
    min_episodes: int = Field(
        8,
        ge=2,
        description="A decision whose group has fewer episodes is compared in the larger group without the last "
        "stratum, and so on up to the first.",
    )

    @field_validator("strata")
    @classmethod
    def _differ(cls, strata: tuple[Stratum, ...]) -> tuple[Stratum, ...]:
        if len(set(strata)) < len(strata):
            raise ValueError(f"expected each stratum once, got {', '.join(strata)}")
        return strata


ADVANTAGE_KINDS = Kinds("nashdex.advantages", "advantage estimator", GaeSettings, VTraceSettings, GroupRelativeSettings)

AdvantagesChoice = Annotated[Choice, OneOf(ADVANTAGE_KINDS, "gae")]
"""The section of one estimator, chosen by its key ``kind``."""
