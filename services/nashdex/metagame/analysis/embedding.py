"""The cyclic part of a game as a picture: cycles of policies that beat each other, which no rating can express.

An antisymmetric matrix is a sum of *discs*: in the real Schur decomposition C = Q Λ Qᵀ each 2 × 2 block of Λ is
[[0, λ], [−λ, 0]], and its two columns of Q, scaled by √λ, give every policy a point u_i of the plane such that the
disc's share of C_ij is the cross product u_i × u_j (Balduzzi et al. 2018, arXiv 1806.02643; 2019, arXiv 1901.08106).
So a policy beats those that lie less than half a turn counterclockwise of it, most of all those at a right angle, and
by more the farther both are from the centre. The largest disc is drawn; its share says what the picture leaves out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import CONFIDENCE, EVEN, Floats, centred, posterior_scores
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH

_NOTHING = 1e-9
"""Share of the payoffs' size below which a residue is rounding."""
_REACH_UP = 3.0
"""How far an interval of a share reaches up, in what its draws reach down."""
_SAME_RADIUS = 1e-6
"""Share of the largest distance. Policies whose distances differ by less are sorted by id."""


@dataclass(frozen=True, slots=True)
class Disc:
    """The largest disc of a game's cyclic part."""

    positions: Floats
    """Shape (K, 2), in the order of the policies; u_i × u_j is in the payoffs' units."""
    share: float
    """Share of the residue's squared Frobenius norm that this disc explains; 1 where there is no other."""


@dataclass(frozen=True, slots=True)
class Payoffs:
    """Payoffs, the part that ratings explain, and the uncertainty of both. Antisymmetric."""

    estimates: Floats
    """Shape (K, K)."""
    transitive: Floats
    """Shape (K, K)."""
    draws: Floats | None = None
    """Posterior draws of shape (D, K, K); None where payoffs are exact."""

    @classmethod
    def of_counts(cls, policies: Sequence[PolicyId], tally: Tally, elo: Floats, num_draws: int) -> "Payoffs":
        """Return the payoffs of battles. For pairs without battles, ``elo``, of shape (K,), predicts the payoff."""
        transitive = expected_scores_of(elo / ELO_PER_STRENGTH) - EVEN
        met = tally.games > 0
        drawn = centred(posterior_scores(policies, tally, num_draws=num_draws, seed=0))
        return cls(
            estimates=np.where(met, tally.scores / np.maximum(tally.games, 1) - EVEN, transitive),
            transitive=transitive,
            draws=np.where(met, drawn, transitive),
        )


def transitive_part(payoffs: Floats) -> Floats:
    """Return f_i − f_j of shape (K, K) with f the rows' means: what one number a policy can explain.

    The least-squares fit to antisymmetric ``payoffs`` of shape (K, K), and orthogonal to what it leaves (the
    combinatorial Hodge decomposition: Balduzzi et al. 2018, section 3). For payoffs that add up, as chips do; scores of
    battles saturate at 0 and 1, and there the ratings' prediction is the transitive part.
    """
    strengths = payoffs.mean(axis=1)
    fitted: Floats = strengths[:, None] - strengths[None, :]
    return fitted


def disc_shares(payoffs: Floats, transitive: Floats) -> Floats:
    """Return the share of the largest disc of each of ``payoffs`` of shape (D, K, K), as ``Disc.share``; shape (D,)."""
    residues = payoffs - transitive
    sizes = np.maximum((residues**2).sum(axis=(1, 2)), np.finfo(np.float64).tiny)
    largest = np.linalg.eigvalsh(1j * residues)[:, -1]
    shares: Floats = np.minimum(1.0, 2.0 * largest**2 / sizes)
    return shares


def share_interval(share: float, payoffs: Payoffs) -> Interval | None:
    """Return a conservative 95 % interval of the true share of the largest disc; None where payoffs are exact.

    Noise spreads over all discs, so an estimate leans to the low side of the truth, and posterior draws, which add
    noise once more, to the low side of the estimate. The interval holds the draws' central 95 % and their mirror image
    about the estimate, and reaches up three times as far as the draws reach down. Its coverage is measured: where a
    cycle is faint, the quantiles alone hold less than half of what they say.
    """
    if payoffs.draws is None:
        return None
    shares = disc_shares(payoffs.draws, payoffs.transitive)
    low, high = (float(end) for end in np.quantile(shares, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)))
    return Interval(
        low=max(0.0, min(share, low, 2 * share - high)),
        high=min(1.0, max(share, high, share + _REACH_UP * (share - low))),
    )


def first_disc(policies: Sequence[PolicyId], payoffs: Floats, transitive: Floats) -> Disc | None:
    """Return the largest disc of ``payoffs`` − ``transitive``, both antisymmetric, of shape (K, K).

    The picture follows ids: a reordering moves no point. A disc may be turned freely, so it is turned until the policy
    farthest out, the first by id among equals, lies to the right of the centre.

    Returns:
        None where the game is transitive: nothing is left but rounding.
    """
    order = sorted(range(len(policies)), key=policies.__getitem__)
    residue = (payoffs - transitive)[np.ix_(order, order)]
    size = float(np.linalg.norm(residue))
    if size <= _NOTHING * float(np.linalg.norm(payoffs)):
        return None
    # iC is Hermitian. Real and imaginary part of its eigenvector for λ are the block's two columns of Q, and the
    # vector's free phase is the disc's free rotation.
    values, vectors = np.linalg.eigh(1j * residue)
    points = np.sqrt(2.0 * values[-1]) * vectors[:, -1].conj()
    radii = np.abs(points)
    outermost = points[int(np.argmax(radii >= (1.0 - _SAME_RADIUS) * radii.max()))]
    points *= outermost.conj() / abs(outermost)
    positions = np.empty((len(policies), 2))
    positions[order] = np.column_stack([points.real, points.imag])
    return Disc(positions, share=min(1.0, 2.0 * float(values[-1]) ** 2 / size**2))
