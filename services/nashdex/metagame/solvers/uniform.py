"""The meta-solver ``uniform``: equal weights, the mixture that fictitious play answers."""

from typing import Literal

import numpy as np
from pydantic import Field

from nashdex.core.section import Choice
from nashdex.metagame.equilibria.gains import Floats
from nashdex.metagame.solvers.fixed_weights import fixed_weights


class UniformSettings(Choice):
    """Settings of ``uniform``: none."""

    kind: Literal["uniform"] = Field("uniform", description="The meta-solver.")


def _weights(size: int, settings: UniformSettings) -> Floats:
    del settings
    return np.full(size, 1.0 / size)


UNIFORM = fixed_weights(UniformSettings, "equal weights; a policy that training found n times has n of them", _weights)
