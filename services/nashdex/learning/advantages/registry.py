"""Advantage estimators of nashdex and of installed packages, by name."""

from typing import Any, Final

from nashdex.core.plugins import Registry
from nashdex.learning.advantages.interface import AdvantageEstimator
from nashdex.settings.advantages import ADVANTAGE_KINDS

_HERE: Final = "nashdex.learning.advantages"

ADVANTAGES: Registry[AdvantageEstimator[Any]] = Registry.of(
    ADVANTAGE_KINDS,
    AdvantageEstimator,
    {
        "gae": f"{_HERE}.gae:GAE",
        "v-trace": f"{_HERE}.v_trace:V_TRACE",
        "group-relative": f"{_HERE}.group_relative:GROUP_RELATIVE",
    },
)
"""By the name that ``train.oracle.advantages.kind`` uses."""
