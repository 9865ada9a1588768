"""Settings of the initial population."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator, model_validator

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId, is_imported
from nashdex.core.section import Section
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES


def _known(name: str) -> str:
    if name not in SCRIPTED_POLICIES:
        raise ValueError(SCRIPTED_POLICIES.unknown(name))
    return name


def _known_member(name: str) -> str:
    if is_imported(name):
        try:
            return PlayedPolicy.of(PolicyId(name)).id
        except ConfigurationError as error:
            raise ValueError(str(error)) from error
    if name not in SCRIPTED_POLICIES:
        raise ValueError(
            f"{SCRIPTED_POLICIES.unknown(name)}, or an imported policy's id, as `nashdex policy import` prints it"
        )
    return name


def _list_names(schema: dict[str, Any]) -> None:
    schema["enum"] = list(SCRIPTED_POLICIES.names)


ScriptedName = Annotated[str, AfterValidator(_known), Field(json_schema_extra=_list_names)]
"""Name of a scripted policy, built in or of an installed package."""


def _list_members(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"enum": list(SCRIPTED_POLICIES.names)}, {"type": "string", "pattern": "^i[0-9a-f]{16}(@.*)?$"}]


MemberName = Annotated[str, AfterValidator(_known_member), Field(json_schema_extra=_list_members)]
"""Name of a scripted policy, or the id of an imported one."""


class PopulationSettings(Section):
    """The population before the first iteration."""

    initial: tuple[MemberName, ...] = Field(
        default=("random", "max-power", "heuristic"),
        min_length=1,
        description="Policies that the population begins with: scripted ones by name, imported ones by id. They also "
        "anchor the ratings, and never learn.",
    )
    imported_from: str = Field(
        "",
        description="Folder or s3:// URI that `nashdex policy import` wrote the imported policies of `initial` to. A "
        "run copies them when it begins; nothing reads this store afterwards.",
    )

    @property
    def imported(self) -> tuple[PolicyId, ...]:
        """The imported policies, as they play."""
        return tuple(PolicyId(name) for name in self.initial if is_imported(name))

    @model_validator(mode="after")
    def _imports_have_a_source(self) -> "PopulationSettings":
        if self.imported and not self.imported_from:
            raise ValueError(
                f"initial holds the imported policy {self.imported[0]} and imported_from is empty; name the folder "
                "or s3:// URI that `nashdex policy import` wrote it to"
            )
        if self.imported_from and not self.imported:
            raise ValueError("imported_from has no effect where initial holds no imported policy: leave it out")
        return self

    @field_validator("initial")
    @classmethod
    def _names_differ(cls, initial: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(initial)) != len(initial):
            raise ValueError("a policy is named twice")
        return initial
