"""Opponent rules by name: built in, or from installed packages."""

from typing import Any, Final

from nashdex.core.plugins import Registry
from nashdex.metagame.opponents.interface import OpponentRule
from nashdex.settings.opponents import OPPONENT_KINDS

OPPONENT_RULES: Final[Registry[OpponentRule[Any]]] = Registry.of(
    OPPONENT_KINDS,
    OpponentRule,
    {
        "meta-strategy": "nashdex.metagame.opponents.simple:META_STRATEGY",
        "self-play": "nashdex.metagame.opponents.simple:SELF_PLAY",
        "league": "nashdex.metagame.opponents.league:LEAGUE",
        "initial": "nashdex.metagame.opponents.simple:INITIAL",
        "target": "nashdex.metagame.opponents.simple:TARGET",
    },
)
"""By the name that ``opponents`` uses."""
INITIAL_RULE: Final = "initial"
"""The rule of iteration 0, unless the run's is fixed: nothing has been solved yet."""
