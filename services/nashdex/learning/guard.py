"""The instability guard: says when an update must not stand."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """Limits on what an update measures. A value that an algorithm does not measure is not judged."""

    max_gradient_norm: float = 100.0
    """Of the global gradient before it is scaled down; sound updates stay below 10."""
    max_clip_fraction: float = 0.6
    min_entropy_share: float = 0.5
    """Of the entropy when the state was last known to be good."""
    min_entropy_nats: float = 0.02
    """Below this, minibatches differ too much for a share to mean anything."""

    def is_sound(self, values: Mapping[str, float]) -> bool:
        """Say whether a state that measured ``values``, without a problem, is far enough from one to return to.

        What is restored at the edge of a limit would only fall off it again.
        """
        return values.get("clip_fraction", 0.0) <= self.max_clip_fraction / 2

    def problem(self, values: Mapping[str, float], good_entropy: float | None) -> str | None:
        """Return what is wrong with an update that measured ``values``, or None.

        ``good_entropy`` is the entropy in nats of the last good state, if it is known.
        """
        for name, value in values.items():
            if not math.isfinite(value):
                return f"{name} is {value}"
        norm, clipped = values.get("gradient_norm", 0.0), values.get("clip_fraction", 0.0)
        if norm > self.max_gradient_norm:
            return f"the gradient's norm is {norm:.3g}, above {self.max_gradient_norm:g}"
        if clipped > self.max_clip_fraction:
            return f"{clipped:.0%} of the ratios are clipped, above {self.max_clip_fraction:.0%}"
        entropy = values.get("entropy")
        if entropy is None or good_entropy is None or good_entropy <= self.min_entropy_nats:
            return None
        if entropy < self.min_entropy_share * good_entropy:
            return f"entropy fell to {entropy:.3g} nats from {good_entropy:.3g} within a checkpoint's time"
        return None
