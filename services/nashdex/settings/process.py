"""Settings of logs, metrics and health. From the environment only: they depend on the place, not on the run."""

import os
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError

_IN_ANY_CASE: Final = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)


class TelemetrySettings(BaseModel):
    """``NASHDEX_LOG_FORMAT``, ``NASHDEX_LOG_LEVEL`` and so on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    log_format: Annotated[Literal["console", "json"] | None, _IN_ANY_CASE] = Field(
        None, description="Format of logs; by default console on a terminal, JSON lines elsewhere."
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], _IN_ANY_CASE] = Field(
        "info", description="Lowest level that is logged."
    )
    archive_logs: bool = Field(default=False, description="Also write a step's log to the run's store.")
    metrics_port: int | None = Field(
        None, ge=0, le=65_535, description="Port of /metrics and /healthz. 0: any free port. Unset: serve neither."
    )
    health_stale_seconds: float = Field(
        300.0, gt=0, description="Longest time without progress that still counts as healthy."
    )
    retry: int = Field(0, ge=0, description="Number of failed attempts at this shard before this one.")
    progress_fd: int | None = Field(
        None, ge=0, description="File descriptor for progress as JSON lines, instead of the log."
    )


_VARIABLES: Final = {name: f"NASHDEX_{name.upper()}" for name in TelemetrySettings.model_fields}


def load_telemetry_settings() -> TelemetrySettings:
    """Return the settings from the environment.

    Raises:
        ConfigurationError: a variable has a wrong value.
    """
    return _load(tuple((name, os.environ[key]) for name, key in _VARIABLES.items() if key in os.environ))


@lru_cache(maxsize=1)
def _load(values: tuple[tuple[str, str], ...]) -> TelemetrySettings:
    """Return the settings for ``values`` by name: a step asks several times."""
    try:
        return TelemetrySettings.model_validate(dict(values))
    except ValidationError as error:
        raise ConfigurationError(f"environment variable NASHDEX_…: {describe_problems(error)}") from error
