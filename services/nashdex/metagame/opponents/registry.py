"""Opponent rules by name: those of nashdex and those of installed packages."""

from typing import Any, Final

from nashdex.core.plugins import Registry
from nashdex.metagame.opponents.interface import OpponentRule

OPPONENT_RULES: Final[Registry[OpponentRule[Any]]] = Registry(
    "nashdex.opponent_rules",
    "opponent rule",
    OpponentRule,
    {
        "meta-strategy": "nashdex.metagame.opponents.meta_strategy:META_STRATEGY",
        "self-play": "nashdex.metagame.opponents.self_play:SELF_PLAY",
        "league": "nashdex.metagame.opponents.league:LEAGUE",
        "initial": "nashdex.metagame.opponents.initial:INITIAL",
        "target": "nashdex.metagame.opponents.target:TARGET",
    },
)
"""By the name that ``opponents`` uses."""
INITIAL_RULE: Final = "initial"
"""The rule of iteration 0, unless the run's is fixed: nothing has been solved yet."""
