"""Values of the images."""

from typing import Annotated, Literal

from pydantic import Field

from chart_values.base import Values


class ReferenceValues(Values):
    """Full references by image."""

    showdown: str = Field("", description="Battle gateway and stock Showdown server.")
    collector: str = Field("", description="Collects battles.")
    evaluator: str = Field("", description="Plays the tournament and the gate.")
    trainer: str = Field("", description="Trains; built with CUDA by default.")
    control: str = Field("", description="Plans, solves and reports; runs the exporter.")


class ImageValues(Values):
    """The five images."""

    repository: str = Field("nashdex", min_length=1, description="Prefix of `/showdown`, `/collector` and so on.")
    tag: str = Field("", description="Tag of all five. Default: the chart's appVersion.")
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field("IfNotPresent", description="Image pull policy.")
    pull_secrets: list[Annotated[str, Field(min_length=1)]] = Field(
        [], description="Names of Secrets with registry credentials, for every service account."
    )
    references: ReferenceValues = Field(
        ReferenceValues(), description="Full references instead of repository and tag, such as by digest."
    )
