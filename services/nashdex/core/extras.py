"""Packages that only an extra of nashdex installs: imported where they are first needed, with one message."""

from pkgutil import resolve_name
from typing import Any

from nashdex.core.errors import ConfigurationError


def required(name: str, *, extra: str, needed_by: str) -> Any:  # noqa: ANN401 - whatever the name means
    """Return a module, or ``module:attribute``, that needs packages of an extra. Imports it now.

    Raises:
        ConfigurationError: a package is missing; names it and the extra.
    """
    try:
        return resolve_name(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise ConfigurationError(
            f"{needed_by} needs the Python package {package}; install it with: pip install 'nashdex[{extra}]'"
        ) from error
