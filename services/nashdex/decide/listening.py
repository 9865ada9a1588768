"""The service of ``nashdex decide --listen`` on a port, until the process is asked to stop."""

import socket
from typing import Final

import uvicorn

from nashdex.core.errors import ConfigurationError
from nashdex.decide.deciding import Adviser
from nashdex.decide.service import Limits, service

_STOP_SECONDS: Final = 30
"""Longest wait for open requests when the process is asked to stop."""
_BACKLOG: Final = 128


def open_socket(address: str) -> socket.socket:
    """Return a socket that listens on ``HOST:PORT`` or, on this machine alone, ``PORT``.

    Raises:
        ConfigurationError: it is no address, or it is taken or not this machine's.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ConfigurationError(f"--listen is {address!r}; expected HOST:PORT or PORT, such as 127.0.0.1:8100")
    try:
        family = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, int(port)), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"--listen {address}: cannot listen there ({error}); name a free port of this machine"
        ) from error


def listen(adviser: Adviser, limits: Limits, listener: socket.socket) -> None:
    """Answer requests until SIGTERM or Ctrl-C, then those that are open."""
    config = uvicorn.Config(
        service(adviser, limits),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        lifespan="off",
        h11_max_incomplete_event_size=1 << 16,
    )
    uvicorn.Server(config).run(sockets=[listener])
