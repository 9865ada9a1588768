"""The meta-solver ``last``: the newest policy alone, so that every policy answers the one before it."""

from typing import Literal

from pydantic import Field

from nashdex.core.section import Choice
from nashdex.metagame.equilibria.gains import Floats
from nashdex.metagame.solvers.fixed_weights import fixed_weights, newest


class LastSettings(Choice):
    """Settings of ``last``: none."""

    kind: Literal["last"] = Field("last", description="The meta-solver.")


def _weights(size: int, settings: LastSettings) -> Floats:
    del settings
    return newest(size, 1)


LAST = fixed_weights(LastSettings, "the newest policy alone", _weights)
