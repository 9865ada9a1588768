"""Starts a process's telemetry. The command line calls it once, before any work."""

from nashdex.settings.process import load_telemetry_settings
from nashdex.telemetry.logging import configure_logging
from nashdex.telemetry.metric import identify_process


def start_telemetry(*, component: str, run: str = "", format: str = "") -> None:  # noqa: A002 - the label's name
    """Configure logs, set the process's labels and, if NASHDEX_METRICS_PORT is set, serve metrics and health.

    Raises:
        ConfigurationError: an environment variable is wrong or the port is taken.
    """
    settings = load_telemetry_settings()
    configure_logging(settings)
    identify_process(run=run, component=component, format=format)
    if settings.metrics_port is not None:
        from nashdex.telemetry.server import TelemetryServer  # noqa: PLC0415 - only pods serve and need http.server

        TelemetryServer(settings.metrics_port, stale_seconds=settings.health_stale_seconds)
