"""The bases of every section of a run's settings: frozen; unknown keys, NaN and infinity are refused."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """One section of the settings. A package declares its own in its ``settings`` module."""

    # Built on first use: a section is built as part of the whole.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Choice(Section):
    """The section of one entry of a registry, chosen by ``kind`` (``core.plugins.OneOf``)."""

    kind: str
    """The entry's name. A subclass declares it as ``kind: Literal["name"] = "name"``."""


def changed_keys(section: BaseModel) -> list[str]:
    """Return the keys of a section that differ from their defaults."""
    fields = type(section).model_fields.items()
    return [key for key, field in fields if getattr(section, key) != field.get_default(call_default_factory=True)]
