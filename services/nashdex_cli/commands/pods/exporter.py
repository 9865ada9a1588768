"""``nashdex exporter``: metrics of a store's active runs, from their reports."""

from typing import Annotated

import typer

from nashdex.core.errors import ConfigurationError, StoppedError
from nashdex_cli.commands.run_options import StoreOption


def exporter(
    store: StoreOption,
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="Time between two scans of the store.")] = 30.0,
    active: Annotated[
        float, typer.Option(min=0.01, metavar="HOURS", help="Stop exporting a run after this many hours without news.")
    ] = 24.0,
    policies: Annotated[
        int,
        typer.Option(min=0, max=1000, help="Policies of a run with series of their own."),
    ] = 20,
) -> None:
    """Serve metrics of active runs' newest iterations at /metrics, on port NASHDEX_METRICS_PORT.

    Runs until SIGTERM, then exits with 0. While the store is unreachable it serves the last values.
    """
    from contextlib import suppress

    from nashdex.core.stopping import install_stop_handlers
    from nashdex.settings.process import load_telemetry_settings
    from nashdex.store import open_store
    from nashdex.telemetry.metrics import observe_store
    from nashdex.telemetry.server import start_telemetry
    from nashdex_cluster.exporter.service import COMPONENT, export

    if load_telemetry_settings().metrics_port is None:
        raise ConfigurationError(
            "NASHDEX_METRICS_PORT is not set; expected the port to serve /metrics on, such as 9090"
        )
    install_stop_handlers()
    opened = open_store(store, observe_store)
    start_telemetry(component=COMPONENT)
    with suppress(StoppedError):
        export(opened, every_seconds=every, active_seconds=active * 3600, num_policies=policies)
