"""Addresses of what listens: ``HOST:PORT``, an IPv6 host in brackets."""

import re
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import AfterValidator

_LABEL: Final = r"[A-Za-z0-9_-]{1,63}"
_HOST: Final = rf"\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>{_LABEL}(?:\.{_LABEL})*\.?)"
_ADDRESS: Final = re.compile(rf"(?:{_HOST}):(?P<port>[0-9]{{1,5}})")
_MOST_PORT: Final = 65535


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


def _checked(text: str) -> str:
    Address.of(text)
    return text


AddressText = Annotated[str, AfterValidator(_checked)]
"""Text of an ``Address`` in a section of settings."""
