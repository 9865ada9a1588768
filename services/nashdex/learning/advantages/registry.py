"""Advantage estimators by name: those of nashdex and those of installed packages."""

from typing import Annotated, Any, Final

from nashdex.core.plugins import OneOf, Registry
from nashdex.core.section import Choice
from nashdex.learning.advantages.interface import AdvantageEstimator

_HERE: Final = "nashdex.learning.advantages"
_DEFAULT: Final = "gae"

ADVANTAGES: Registry[AdvantageEstimator[Any]] = Registry(
    "nashdex.advantages",
    "advantage estimator",
    AdvantageEstimator,
    {
        "gae": f"{_HERE}.gae:GAE",
        "v-trace": f"{_HERE}.v_trace:V_TRACE",
        "group-relative": f"{_HERE}.group_relative:GROUP_RELATIVE",
    },
)
"""By the name that ``train.oracle.advantages.kind`` uses."""

AdvantagesChoice = Annotated[Choice, OneOf(ADVANTAGES, _DEFAULT)]
"""The section of one estimator, chosen by its key ``kind``."""


def default_advantages() -> Choice:
    """Return the default estimator's section."""
    section: Choice = ADVANTAGES[_DEFAULT].settings()
    return section
