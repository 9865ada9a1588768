"""Damping presets by name: those of nashdex and those of installed packages."""

from typing import Final

from nashdex.core.plugins import Registry
from nashdex.learning.damping.interface import Preset

_HERE: Final = "nashdex.learning.damping.presets"

DAMPING_PRESETS: Final = Registry(
    "nashdex.damping_presets",
    "damping preset",
    Preset,
    {
        "none": f"{_HERE}:NONE",
        "ppo-clip-kl": f"{_HERE}:PPO_CLIP_KL",
        "kl-warmup": f"{_HERE}:KL_WARMUP",
        "adaptive-kl": f"{_HERE}:ADAPTIVE_KL",
        "s0-damped": f"{_HERE}:S0_DAMPED",
        "ema-magnet": f"{_HERE}:EMA_MAGNET",
        "portfolio": f"{_HERE}:PORTFOLIO",
    },
)
"""By the name that ``train.oracle.damping.preset`` uses."""
