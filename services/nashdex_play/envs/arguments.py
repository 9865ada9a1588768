"""Keyword arguments of the environments, and the checks of what their users pass."""

import inspect
from collections.abc import Mapping
from typing import Any, Final, TypedDict

import numpy as np

from nashdex.core.arguments import FORMAT, TEAM_SET, Kind, check_flag, check_known, check_type, share, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import shorten
from nashdex.games.space import NUM_SEATS
from nashdex_play.envs.views import EnvView


class BattleOptions(TypedDict, total=False):
    """Keyword arguments that all environments take; ``BattleEnv`` explains them."""

    team_set: str | None
    reward: str
    discount: float
    view: str | EnvView
    log: bool
    strict: bool


class EpisodeOptions(BattleOptions, total=False):
    """Keyword arguments that the environments of one agent take; ``BattleEnv`` explains them."""

    states: bool


_KINDS: Final[Mapping[str, Kind]] = {
    "team_set": TEAM_SET,
    "reward": (str, "the name of a reward, such as 'shaped'"),
    "view": (str | EnvView, "the name of a view, such as 'text', or an EnvView"),
}


def check_options(environment: type, format_id: str, options: Mapping[str, Any], known: type) -> None:
    """Check the arguments of ``environment``. Whether the names exist and fit together is checked where they are used.

    ``options`` are those that ``environment`` takes by keyword as ``known``: ``BattleOptions`` or ``EpisodeOptions``.

    Raises:
        ConfigurationError: one is of another type, or out of range.
        TypeError: it has no such argument.
    """
    check_type("format", format_id, FORMAT)
    named = [name for name in inspect.signature(environment).parameters if name != "options"]
    check_known(environment.__name__, options, [*named, *known.__annotations__])
    for name, value in options.items():
        if name in _KINDS:
            check_type(name, value, _KINDS[name])
        elif name == "discount":
            share(name, value)
        else:
            check_flag(name, value)


def check_seat(seat: int | None) -> None:
    """Raise ConfigurationError unless ``seat`` is None, 0 or 1."""
    if seat is not None and not (isinstance(seat, int | np.integer) and 0 <= seat < NUM_SEATS):
        raise ConfigurationError(f"seat is {shorten(seat)}: expected 0, 1, or None to draw it for each episode")


def checked_seed(seed: int | None, options: Mapping[str, Any] | None) -> int | None:
    """Return the seed of a ``reset``, whose options are not used.

    Raises:
        ConfigurationError: the seed is no whole number, or the options are no dictionary.
    """
    check_type("options", options, (Mapping | None, "a dictionary, or None"))
    return None if seed is None else whole_number("seed", seed, 0)
