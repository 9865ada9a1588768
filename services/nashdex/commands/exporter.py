"""``nashdex exporter``: what the reports of a store's runs say, as metrics."""

from typing import Annotated

import typer

from nashdex.core.errors import ConfigurationError, StoppedError


def exporter(
    store: Annotated[str, typer.Option(metavar="URI", help="Path, file://… or s3://bucket/prefix.")],
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="Time between two looks at the store.")] = 30.0,
    active: Annotated[
        float, typer.Option(min=0.01, metavar="HOURS", help="How long a run of which nothing new is seen is told of.")
    ] = 24.0,
) -> None:
    """Serve the facts of active runs' newest iterations at /metrics, on the port that NASHDEX_METRICS_PORT names.

    A service: it ends, with exit code 0, at SIGTERM. While the store is away it tells what it knew.
    """
    from contextlib import suppress

    from nashdex.core.stopping import install_stop_handlers
    from nashdex.exporter.exposition import COMPONENT
    from nashdex.exporter.service import export
    from nashdex.store import open_store
    from nashdex.telemetry.metrics import observe_store
    from nashdex.telemetry.settings import load_telemetry_settings
    from nashdex.telemetry.startup import start_telemetry

    if load_telemetry_settings().metrics_port is None:
        raise ConfigurationError(
            "NASHDEX_METRICS_PORT is not set; expected the port to serve /metrics on, such as 9090"
        )
    install_stop_handlers()
    opened = open_store(store, observe_store)
    start_telemetry(component=COMPONENT)
    with suppress(StoppedError):
        export(opened, every_seconds=every, active_seconds=active * 3600)
