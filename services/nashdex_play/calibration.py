"""How a critic's chance to win becomes one that is won as often as it says: monotone maps, stored beside the policy."""

from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from nashdex.core import keys
from nashdex.core.documents import Document, Model
from nashdex.core.ids import BarePolicyId, BarePolicyIdField
from nashdex.store.documents import read_beside_policy
from nashdex.store.protocol import ObjectStore

MOST_OPPONENTS: Final = 10
LEAST_CHANCE: Final = 0.001
"""Critics also say 0 and 1, whose log odds are infinite."""

Floats = NDArray[np.float64]


def log_odds(chances: Floats) -> Floats:
    """Return the log odds of ``chances``, any shape, finite."""
    inside = np.clip(chances, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    return np.log(inside / (1.0 - inside))


class ChanceMap(Model):
    """Platt's map of chances: log odds times ``slope`` plus ``intercept``."""

    slope: float = Field(gt=0, le=100)
    intercept: float = Field(ge=-100, le=100)

    def __call__(self, chances: Floats) -> Floats:
        """Return the mapped ``chances``, any shape."""
        return 1.0 / (1.0 + np.exp(-(self.slope * log_odds(chances) + self.intercept)))


class HeldOutError(Model):
    """Expected calibration error in battles that did not fit the map, with 95 % of its resamples by pairs."""

    error: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)


class OpponentCalibration(Model):
    """The map of chances against one opponent, and what it was tested by."""

    against: str | None = Field(description="The opponent; null: the policy itself.")
    map: ChanceMap
    fitted_battles: PositiveInt
    tested_battles: PositiveInt
    tested_decisions: PositiveInt
    critic: HeldOutError = Field(description="Error of the critic's own chances.")
    mapped: HeldOutError = Field(description="Error of the mapped chances.")


class PolicyCalibration(Document):
    """Calibration of a stored network's critic, beside its card."""

    policy: BarePolicyIdField
    format: str
    seed: NonNegativeInt
    opponents: tuple[OpponentCalibration, ...] = Field(
        min_length=1, max_length=MOST_OPPONENTS, description="The policy itself first."
    )

    @model_validator(mode="after")
    def _begins_with_itself(self) -> Self:
        if [each.against is None for each in self.opponents] != [True] + [False] * (len(self.opponents) - 1):
            raise ValueError("expected the policy itself first, and only there")
        return self

    @property
    def itself(self) -> OpponentCalibration:
        """Calibration against the policy itself: against an opponent as strong as it."""
        return self.opponents[0]


def write_calibration(store: ObjectStore, calibration: PolicyCalibration) -> None:
    """Store ``calibration``; it replaces an earlier one of the same policy."""
    store.put(keys.policy_calibration(calibration.policy), calibration.to_json())


def read_calibration(store: ObjectStore, policy: BarePolicyId) -> PolicyCalibration | None:
    """Return the calibration of a policy of ``store``, or None.

    Raises:
        DataError: it is wrong, or is another policy's.
    """
    key, remedy = keys.policy_calibration(policy), "measure it again"
    return read_beside_policy(store, key, policy, PolicyCalibration, holds="is the calibration of", remedy=remedy)


def calibration_in_words(found: OpponentCalibration) -> str:
    """Return what a reader should know of a map."""
    critic, mapped, low, high = (
        100 * value for value in (found.critic.error, found.mapped.error, found.mapped.low, found.mapped.high)
    )
    who = "itself" if found.against is None else found.against
    return (
        f"against {who} the expected calibration error is {mapped:.1f} % ({low:.1f} to {high:.1f}) in "
        f"{found.tested_battles:,} other battles, {critic:.1f} % before the map"
    )
