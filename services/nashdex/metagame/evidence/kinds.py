"""The evidence that a run begins with."""

from nashdex.core.evidence import Evidence
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts


def nothing_known(evidence: Evidence, largest_payoff: float) -> InteractionMatrix:
    """Return the evidence among no policies, before a run's first tournament.

    ``largest_payoff`` is of either seat, in the game's units.
    """
    if evidence is Evidence.EXACT:
        return ExactValues.unknown(largest_payoff)
    return SampledCounts.unplayed(())
