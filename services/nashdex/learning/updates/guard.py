"""The instability guard: it decides when an update is undone."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """Limits on what an update measures. Values that an algorithm does not measure are not judged."""

    max_gradient_norm: float = 1000.0
    """Largest norm of the gradient before it is scaled down. The critic's exceeds 100 at times in a long training."""
    max_clip_fraction: float = 0.6
    max_kl_nats: float = 1.0
    """Largest KL of the policy from the one that played the round; sound updates stay below 0.2."""
    min_entropy_share: float = 0.5
    """Smallest share of the entropy when the state was last known to be good."""
    min_entropy_nats: float = 0.02
    """Below this, minibatches differ too much for a share to mean anything."""

    def is_sound(self, values: Mapping[str, float]) -> bool:
        """Say whether a state that measured ``values`` is good enough to return to: far from every limit.

        A state at the edge of a limit would only cross it again.
        """
        return (
            values.get("clip_fraction", 0.0) <= self.max_clip_fraction / 2
            and values.get("kl_behaviour", 0.0) <= self.max_kl_nats / 2
        )

    def problem(self, values: Mapping[str, float], good_entropy: float | None) -> str | None:
        """Return the fault of an update with the measurements ``values``, or None.

        ``good_entropy`` is the entropy in nats of the last good state, if it is known.
        """
        return next(self._problems(values, good_entropy), None)

    def _problems(self, values: Mapping[str, float], good_entropy: float | None) -> Iterator[str]:
        for name, value in values.items():
            if not math.isfinite(value):
                yield f"{name} is {value}"
        norm, clipped, kl = (values.get(name, 0.0) for name in ("gradient_norm", "clip_fraction", "kl_behaviour"))
        if norm > self.max_gradient_norm:
            yield f"the gradient's norm is {norm:.3g}, above {self.max_gradient_norm:g}"
        if clipped > self.max_clip_fraction:
            yield f"{clipped:.0%} of the ratios are clipped, above {self.max_clip_fraction:.0%}"
        if kl > self.max_kl_nats:
            yield f"the KL from the policy that played is {kl:.3g} nats, above {self.max_kl_nats:g}"
        entropy = values.get("entropy")
        if entropy is None or good_entropy is None or good_entropy <= self.min_entropy_nats:
            return
        if entropy < self.min_entropy_share * good_entropy:
            yield f"entropy fell to {entropy:.3g} nats from {good_entropy:.3g} since the last good state"
