"""The weights of an update's losses, from the settings of damping."""

from dataclasses import dataclass

from nashdex.learning.damping.schedule import Moment, beta_at
from nashdex.settings.damping import Damping


@dataclass(frozen=True)
class Coefficients:
    """The weights of one update's losses."""

    beta_reference: float
    entropy: float


def coefficients(damping: Damping, moment: Moment, multiplier: float = 1.0, entropy_share: float = 1.0) -> Coefficients:
    """Return the coefficients at ``moment``.

    ``multiplier`` is β_ref's controller's, and ``entropy_share`` what annealing leaves of the entropy bonus.
    """
    beta = 0.0 if damping.reference == "none" else beta_at(damping.beta, moment, multiplier)
    return Coefficients(beta, damping.entropy * entropy_share)


def is_warm(damping: Damping, moment: Moment) -> bool:
    """Say whether controllers may act: they wait until β_ref, if there is a reference, has warmed up."""
    return damping.reference == "none" or moment.update >= damping.beta.warmup_updates
