"""Addresses of what listens: ``HOST:PORT``, an IPv6 host in brackets."""

import re
import socket
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import AfterValidator

from nashdex.core.errors import ConfigurationError

_LABEL: Final = r"[A-Za-z0-9_-]{1,63}"
_HOST: Final = rf"\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>{_LABEL}(?:\.{_LABEL})*\.?)"
_ADDRESS: Final = re.compile(rf"(?:{_HOST}):(?P<port>[0-9]{{1,5}})")
_MOST_PORT: Final = 65535
_BACKLOG: Final = 128


@dataclass(frozen=True)
class Address:
    """Where a server listens."""

    host: str
    """A name or an IP address, without brackets."""
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def of(cls, text: str, *, least_port: int = 1) -> Self:
        """Return the address that ``text`` names. With a ``least_port`` of 0 the system may choose the port.

        Raises:
            ValueError: it names none.
        """
        found = _ADDRESS.fullmatch(text)
        if found is None or not least_port <= int(found["port"]) <= _MOST_PORT:
            raise ValueError(
                f"{text!r} is no address; expected HOST:PORT with a port from {least_port} to {_MOST_PORT}, such as "
                "127.0.0.1:8100 or [::1]:8100"
            )
        return cls(found["ipv6"] or found["name"], int(found["port"]))

    @classmethod
    def of_socket(cls, listener: socket.socket) -> Self:
        """Return where a socket listens."""
        host, port = listener.getsockname()[:2]
        return cls(host, port)


def open_listener(text: str, *, least_port: int = 0) -> socket.socket:
    """Return a socket that listens on ``HOST:PORT`` or, on this machine alone, ``PORT``; 0: the system chooses one.

    ``least_port`` is as in ``Address.of``.

    Raises:
        ConfigurationError: it is no address, or it is taken or not this machine's.
    """
    try:
        place = Address.of(f"127.0.0.1:{text}" if text.isdecimal() else text, least_port=least_port)
    except ValueError as error:
        raise ConfigurationError(f"--listen: {error}, or PORT alone") from None
    try:
        family = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((place.host, place.port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"--listen {text}: cannot listen there ({error}); name a free port of this machine"
        ) from error


def _checked(text: str) -> str:
    Address.of(text)
    return text


AddressText = Annotated[str, AfterValidator(_checked)]
"""Text of an ``Address`` in a section of settings."""
