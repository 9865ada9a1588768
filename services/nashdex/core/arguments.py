"""Checks of the arguments of the Python API: an error names the argument, what was given and what is expected."""

import operator
from collections.abc import Collection, Mapping
from types import UnionType
from typing import Final, SupportsIndex, TypeAlias

import numpy as np

from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import expected_one_of, shorten

Kind: TypeAlias = tuple[type | UnionType, str]
"""The types that an argument may have, and the same in words."""

POLICY: Final[Kind] = (str, "the name of a policy, such as 'random' or 'RUN#newest'")
FORMAT: Final[Kind] = (str, "the name of a format, such as 'gen1ou'")
FORMAT_OR_NONE: Final[Kind] = (str | None, f"{FORMAT[1]}, or None")
TEAM_SET: Final[Kind] = (str | None, "the name of a set of teams, or None")


def check_type(name: str, value: object, kind: Kind) -> None:
    """Check the type of the argument called ``name``.

    Raises:
        ConfigurationError: it is another.
    """
    types, expected = kind
    if not isinstance(value, types):
        raise ConfigurationError(f"{name} is {shorten(value)}: expected {expected}")


def check_flag(name: str, value: object) -> None:
    """Check that an argument is a truth value, Python's or numpy's.

    Raises:
        ConfigurationError: it is none, such as a text.
    """
    if not isinstance(value, bool | np.bool_):
        raise ConfigurationError(f"{name} is {shorten(value)}: expected True or False")


def check_known(function: str, given: Mapping[str, object], known: Collection[str]) -> None:
    """Check that keyword arguments that ``function`` passes on are ``known`` ones.

    Raises:
        TypeError: one is not, as for any function of Python.
    """
    for name in given:
        if name not in known:
            raise TypeError(f"{function} has no argument {name!r}: {expected_one_of(name, known)}")


def whole_number(name: str, value: SupportsIndex, least: int | None = None) -> int:
    """Return ``value`` as an integer.

    Raises:
        ConfigurationError: it is no whole number, a truth value, or below ``least``.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f", at least {least}"
        raise ConfigurationError(f"{name} is {shorten(value)}: expected a whole number{bound}")
    return number


def share(name: str, value: object) -> float:
    """Return a number that is more than 0 and at most 1.

    Raises:
        ConfigurationError: ``value`` is another, or no number.
    """
    if not isinstance(value, int | float | np.floating) or not 0 < value <= 1:
        raise ConfigurationError(f"{name} is {shorten(value)}: expected more than 0, at most 1")
    return float(value)
