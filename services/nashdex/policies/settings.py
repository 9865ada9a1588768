"""Settings of the initial population."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from nashdex.core.section import Section
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES


def _known(name: str) -> str:
    if name not in SCRIPTED_POLICIES:
        raise ValueError(SCRIPTED_POLICIES.unknown(name))
    return name


def _list_names(schema: dict[str, Any]) -> None:
    schema["enum"] = list(SCRIPTED_POLICIES.names)


ScriptedName = Annotated[str, AfterValidator(_known), Field(json_schema_extra=_list_names)]
"""Name of a scripted policy, built in or of an installed package."""


class PopulationSettings(Section):
    """The population before the first iteration."""

    initial: tuple[ScriptedName, ...] = Field(
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
