"""The meta-solver ``recency``: weights that decay with age, both in policies; the newest has age 0."""

from typing import Literal

import numpy as np
from pydantic import Field

from nashdex.core.section import Choice
from nashdex.metagame.equilibria.gains import Floats
from nashdex.metagame.solvers.fixed_weights import fixed_weights


class RecencySettings(Choice):
    """Settings of ``recency``."""

    kind: Literal["recency"] = Field("recency", description="The meta-solver.")
    temperature: float = Field(
        1.0, ge=1e-12, le=1e12, description="Age, in policies, at which a weight has fallen to 1/e."
    )


def _weights(size: int, settings: RecencySettings) -> Floats:
    ages = np.arange(size)[::-1]
    weights: Floats = np.exp(-ages / settings.temperature)
    weights /= weights.sum()
    return weights


RECENCY = fixed_weights(RecencySettings, "softmax of −age / temperature, age 0 being the newest", _weights)
