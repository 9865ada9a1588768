"""What all sections of the values share."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

KubernetesObject = dict[str, Any]
"""Passed on as it is; Kubernetes validates it."""


class Values(BaseModel):
    """A section: immutable, and an unknown key is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, defer_build=True
    )
