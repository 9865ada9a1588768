"""The stock Showdown server of the gateway's npm package, as a child process: for outside programs and for tests."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from nashdex.core.address import Address
from nashdex.core.errors import TryAgainError
from nashdex.games.showdown.gateway import find_node, load_gateway_settings

_START_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 15.0


@dataclass(frozen=True)
class ServerAddress(Address):
    """Where a Showdown server listens."""

    @property
    def websocket(self) -> str:
        """The address for clients."""
        return f"ws://{self}/showdown/websocket"


@dataclass(frozen=True)
class StockServer(ServerAddress):
    """A server that this process runs."""

    process: psutil.Process


def server_command(port: int, host: str = "127.0.0.1", state: Path | None = None) -> list[str]:
    """Return the command that runs the server in the foreground.

    Raises:
        ConfigurationError: Node is missing.
    """
    settings = load_gateway_settings()
    command = [find_node(settings), str(settings.directory / "src" / "server.js"), "--port", str(port), "--host", host]
    return [*command, *([] if state is None else ["--state-dir", str(state)]), "--timeout", f"{_START_SECONDS:.0f}"]


@contextmanager
def stock_server() -> Iterator[StockServer]:
    """Run the server on a free port of this machine until the block ends, or this process does.

    Raises:
        ConfigurationError: Node is missing.
        TryAgainError: the server does not answer logins in time, or another process listens on the port.
    """
    command = [*server_command(_free_port()), "--until-input-ends"]
    with subprocess.Popen(  # noqa: S603 our own
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            # Its output ends when its own deadline passes.
            line = process.stdout.readline()
            if b'"ready"' not in line:
                raise TryAgainError(
                    f"the Showdown server did not answer logins within {_START_SECONDS:.0f} s; see what "
                    f"`{' '.join(command)}` prints"
                )
            ready = json.loads(line)
            yield StockServer(ready["host"], ready["port"], psutil.Process(process.pid))
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port
