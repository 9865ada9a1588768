"""Start a process's telemetry: once, by the command line, before any work."""

from nashdex.telemetry.logging import configure_logging
from nashdex.telemetry.metric import identify_process
from nashdex.telemetry.settings import load_telemetry_settings


def start_telemetry(*, component: str, run: str = "", format: str = "") -> None:  # noqa: A002 - the label's name
    """Configure logs, name the process in its metrics and, where NASHDEX_METRICS_PORT asks for it, serve them.

    Raises:
        ConfigurationError: an environment variable is wrong or the port is taken.
    """
    settings = load_telemetry_settings()
    configure_logging(settings)
    identify_process(run=run, component=component, format=format)
    if settings.metrics_port is not None:
        from nashdex.telemetry.server import TelemetryServer  # noqa: PLC0415 - only pods serve, and import http.server

        TelemetryServer(settings.metrics_port, stale_seconds=settings.health_stale_seconds)
