"""Mixed strategies over policies. Weights belong to ids; positions have no meaning."""

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId

_TOLERANCE = 1e-6


class Mixture:
    """A distribution over policies. The order of its weights does not matter.

    Raises:
        DataError: a weight is negative or not finite, or they do not sum to 1.
    """

    def __init__(self, weights: Mapping[PolicyId, float]) -> None:
        wrong = {policy: weight for policy, weight in weights.items() if not (math.isfinite(weight) and weight >= 0)}
        total = math.fsum(weights.values())
        if wrong or not math.isclose(total, 1.0, abs_tol=_TOLERANCE):
            raise DataError(
                f"a mixture's weights are at least 0 and sum to 1; these sum to {total} over {len(weights)} policies"
                + (f", wrong are {wrong}" if wrong else "")
            )
        self._weights = {policy: weights[policy] / total for policy in sorted(weights) if weights[policy] > 0}
        self._support = tuple(self._weights)
        self._cumulative = list(accumulate(self._weights.values()))

    @property
    def weights(self) -> Mapping[PolicyId, float]:
        """The weights of the support, by id."""
        return self._weights

    @property
    def support(self) -> tuple[PolicyId, ...]:
        """The policies that can be drawn, sorted by id."""
        return self._support

    def draw(self, uniform: float) -> PolicyId:
        """Return the policy that ``uniform`` in [0, 1) selects."""
        # The last sum may be a rounding error below 1.
        return self._support[min(bisect_right(self._cumulative, uniform), len(self._support) - 1)]
