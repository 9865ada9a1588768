"""Ports for processes that a test starts, and that listen later."""

import random
import socket


def free_port() -> int:
    """Return a port of this machine that nothing uses.

    It is below the range from which systems take the ports of outgoing connections and of sockets that ask for any
    port, so that no other process gets it before the one that the test starts.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
