"""How a process reports: from the environment alone, since it is the place's matter, not the run's."""

from typing import Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError


class TelemetrySettings(BaseSettings):
    """``NASHDEX_LOG_FORMAT``, ``NASHDEX_LOG_LEVEL`` and so on."""

    model_config = SettingsConfigDict(env_prefix="NASHDEX_", frozen=True, extra="forbid")

    log_format: Literal["console", "json"] | None = Field(
        None, description="By default console on a terminal and JSON lines elsewhere."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    metrics_port: int | None = Field(
        None, ge=0, le=65_535, description="Port of /metrics and /healthz; none serves neither, 0 takes a free one."
    )
    health_stale_seconds: float = Field(
        300.0, gt=0, description="Longest time without progress that still counts as healthy."
    )
    retry: int = Field(0, ge=0, description="How many tries at the same shard failed before this one.")
    progress_fd: int | None = Field(
        None, ge=0, description="File descriptor that takes progress as JSON lines, instead of the log."
    )


def load_telemetry_settings() -> TelemetrySettings:
    """Return the settings that the environment gives.

    Raises:
        ConfigurationError: a variable does not fit.
    """
    try:
        return TelemetrySettings()
    except ValidationError as error:
        raise ConfigurationError(f"environment variable NASHDEX_…: {describe_problems(error)}") from error
