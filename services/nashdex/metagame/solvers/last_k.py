"""The meta-solver ``last-k``: equal weights on the newest policies."""

from typing import Literal

from pydantic import Field

from nashdex.core.section import Choice
from nashdex.metagame.equilibria.gains import Floats
from nashdex.metagame.solvers.fixed_weights import fixed_weights, newest


class LastKSettings(Choice):
    """Settings of ``last-k``."""

    kind: Literal["last-k"] = Field("last-k", description="The meta-solver.")
    num_policies: int = Field(5, ge=1, description="How many of the newest policies share the weight.")


def _weights(size: int, settings: LastKSettings) -> Floats:
    return newest(size, settings.num_policies)


LAST_K = fixed_weights(LastKSettings, "equal weights on the newest policies", _weights)
