"""What people may see: no secrets in messages and logs, and nothing on a terminal that it would obey.

Secrets are found by field name, by text pattern, and by the values of secret variables.

Errors of nashdex are redacted where they are read (``core.errors``), so that every message, log, verdict and report
made of one is. Logs and what commands print are redacted again: they also hold what libraries say.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

REDACTED = "[redacted]"

_NAME = re.compile(r"secret|passw(or)?d|token|credential|authorization|cookie|(access|api|private)_?key", re.IGNORECASE)
# A secret key of S3 may hold a slash, and a port is no password.
_USER_INFO = re.compile(r"(?<=://)(?:[^/\s\"'@:]*:(?!\d{1,5}/)[^\s\"']*|[^/\s\"'@]+)(?=@)")
_TEXTS = [
    _USER_INFO,
    re.compile(
        r"(?<=X-Amz-Signature=)[^&\s\"']+|(?<=X-Amz-Credential=)[^&\s\"']+|(?<=X-Amz-Security-Token=)[^&\s\"']+"
    ),
    re.compile(r"(?<=Bearer )\S+|(?<=Basic )\S+"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
]
_SHORTEST = 8
"""Shorter values of secret variables are not searched for, because they match harmless text."""


class Redaction:
    """Replaces secrets. Reads the environment's on construction."""

    def __init__(self) -> None:
        values = {value for value in _secrets() if len(value) >= _SHORTEST}
        # Longest first, so that a value that contains another one is replaced as a whole.
        known = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
        self._patterns = [*_TEXTS, *([re.compile(known)] if known else [])]

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        for pattern in self._patterns:
            text = pattern.sub(REDACTED, text)
        return text

    def fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``fields`` of a log line with every secret replaced."""
        return {name: self._field(name, value) for name, value in fields.items()}

    def _field(self, name: object, value: Any) -> Any:  # noqa: ANN401 - a log takes any value
        # Numbers are not secrets, and counts of tokens are worth logging.
        if isinstance(name, str) and _NAME.search(name) and not isinstance(value, int | float | None):
            return REDACTED
        return self._value(value)

    def _value(self, value: Any) -> Any:  # noqa: ANN401 - a log takes any value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self._field(name, inner) for name, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(inner) for inner in value]
        if value is None or isinstance(value, int | float):
            return value
        return self._value(str(value))


def redacted(text: str) -> str:
    """Return ``text`` with every secret replaced, also the secrets of the present environment."""
    return Redaction().text(text)


def _secrets() -> Iterator[str]:
    """Yield the values of secret variables, and the user and password of every URL in a variable."""
    for name, value in os.environ.items():
        if _NAME.search(name) and not name.endswith(("_FILE", "_URI", "_URL")):
            yield value
        for found in _USER_INFO.findall(value):
            for part in found.split(":", 1):
                yield part
                yield unquote(part)


_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, separators of lines, and what changes the direction of text."""


def printable(text: str) -> str:
    r"""Return ``text`` with an escape, such as ``\u001b``, for every character that a terminal would obey.

    JSON means the same afterwards.
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def clean(text: str) -> str:
    """Return ``text`` as people may see it: without secrets and without what a terminal would obey."""
    return printable(redacted(text))
