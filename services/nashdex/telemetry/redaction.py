"""Keep secrets out of logs: by field name, by text pattern, and by the values of secret environment variables."""

import os
import re
from collections.abc import Mapping
from typing import Any

from structlog.typing import EventDict, WrappedLogger

REDACTED = "[redacted]"

_NAME = re.compile(r"secret|passw(or)?d|token|credential|authorization|cookie|(access|api|private)_?key", re.IGNORECASE)
_TEXTS = [
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(
        r"(?<=X-Amz-Signature=)[^&\s\"']+|(?<=X-Amz-Credential=)[^&\s\"']+|(?<=X-Amz-Security-Token=)[^&\s\"']+"
    ),
    re.compile(r"(?<=Bearer )\S+|(?<=Basic )\S+"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
]
_SHORTEST = 8
"""Shorter values of secret variables are not searched for, because they match harmless text."""


class Redaction:
    """A structlog processor. Reads the environment's secrets on construction."""

    def __init__(self) -> None:
        values = [
            value
            for name, value in os.environ.items()
            if _NAME.search(name) and not name.endswith(("_FILE", "_URI", "_URL")) and len(value) >= _SHORTEST
        ]
        # Longest first, so that a value that contains another one is replaced as a whole.
        known = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
        self._patterns = [*([re.compile(known)] if known else []), *_TEXTS]

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """Return ``event`` with every secret replaced."""
        del logger, method
        return {name: self._field(name, value) for name, value in event.items()}

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        for pattern in self._patterns:
            text = pattern.sub(REDACTED, text)
        return text

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
