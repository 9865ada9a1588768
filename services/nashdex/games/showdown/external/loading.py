"""A user's poke-env player, by the name of its class."""

import importlib
import inspect

from poke_env.player import Player

from nashdex.core.errors import ConfigurationError


def player_class(name: str) -> type[Player]:
    """Return the poke-env player called ``module:Class``.

    Raises:
        ConfigurationError: it cannot be imported, or is no player.
    """
    module_name, _, class_name = name.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:
        raise ConfigurationError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    if not inspect.isclass(found) or not issubclass(found, Player):
        raise ConfigurationError(f"{name} is no poke-env player: expected a subclass of poke_env.player.Player")
    return found
