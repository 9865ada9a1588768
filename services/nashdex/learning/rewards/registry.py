"""Rewards of nashdex and of installed packages, by name."""

from typing import Final

from nashdex.core.plugins import Registry
from nashdex.learning.rewards.interface import Reward
from nashdex.settings.train import REWARD_NAMES

REWARDS: Final[Registry[Reward]] = Registry.of(
    REWARD_NAMES,
    Reward,
    {
        "win-loss": "nashdex.learning.rewards.built_in:WIN_LOSS",
        "shaped": "nashdex.learning.rewards.built_in:SHAPED",
    },
)
"""By the name that ``train.reward`` uses."""
