"""Oracles by name: those of nashdex and those of installed packages."""

from typing import Final

from nashdex.core.plugins import Registry
from nashdex.oracles.interface import AnyOracle, Oracle

ORACLES: Final[Registry[AnyOracle]] = Registry(
    "nashdex.oracles",
    "oracle",
    Oracle,
    {
        "ppo": "nashdex.oracles.ppo.oracle:PPO",
        "exact": "nashdex.oracles.exact:EXACT",
        "q-learning": "nashdex.oracles.q_learning:Q_LEARNING",
        "clone": "nashdex.oracles.clone:CLONE",
        "fresh": "nashdex.oracles.fresh:FRESH",
        "null": "nashdex.oracles.null:NULL",
    },
)
"""By the name that ``train.oracle`` and ``train.first`` use."""
