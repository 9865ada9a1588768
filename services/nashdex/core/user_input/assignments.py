"""``KEY=VALUE`` as the command line takes it with ``--set``."""

import tomllib
from typing import Any

from nashdex.core.documents import shorten
from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input.toml_file import parse_toml


def parse_assignment(text: str, example: str) -> tuple[str, Any]:
    """Return the key and the value of ``text``. The value is TOML, or else a plain string.

    Args:
        text: such as ``collect.battles=500``.
        example: shown in the error.

    Raises:
        ConfigurationError: there is no key or no ``=``, or the value is nested too deeply or too long a number.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigurationError(f"--set {shorten(text)}: expected KEY=VALUE, such as {example}")
    try:
        values = parse_toml(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return key, value
    except ValueError as error:
        raise ConfigurationError(f"--set {shorten(text)}: {error}") from error
    # More than one value: a line break made another line of TOML.
    return key, values["value"] if len(values) == 1 else value
