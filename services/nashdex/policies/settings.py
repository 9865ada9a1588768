"""Settings of the initial population."""

from typing import Literal

from pydantic import Field, field_validator

from nashdex.core.section import Section

Scripted = Literal["random", "max-power", "heuristic", "first-action"]
"""Scripted policies. Tabular games have random and first-action; Showdown has all."""


class PopulationSettings(Section):
    """Who is in the population before the first iteration."""

    initial: tuple[Scripted, ...] = Field(
        default=("random", "max-power", "heuristic"),
        min_length=1,
        description="Scripted policies that the population begins with. They also anchor the ratings.",
    )

    @field_validator("initial")
    @classmethod
    def _names_differ(cls, initial: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(initial)) != len(initial):
            raise ValueError("a policy is named twice")
        return initial
