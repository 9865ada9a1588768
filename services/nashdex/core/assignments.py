"""``KEY=VALUE`` as the command line takes it with ``--set``."""

import tomllib
from typing import Any

from nashdex.core.errors import ConfigurationError


def parse_assignment(text: str, example: str) -> tuple[str, Any]:
    """Return the key and the value of ``text``. The value is TOML, or else a plain string.

    Args:
        text: such as ``collect.battles=500``.
        example: shown in the error.

    Raises:
        ConfigurationError: there is no key or no ``=``.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigurationError(f"--set {text!r}: expected KEY=VALUE, such as {example}")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value
