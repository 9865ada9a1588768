"""Rectified Nash: whom the players of an equilibrium beat or tie, as PSRO_rN trains against them.

Balduzzi et al. (2019), "Open-ended learning in symmetric zero-sum games", arXiv 1901.08106, algorithm 4: every policy i
of the equilibrium p has a learner of its own, which meets the policies that i beats or ties, in p's proportions:
r_i(j) ∝ p_j 1[A_ij ≥ 0]. There the mixtures stay apart. A meta-solver returns one mixture, and here it is
σ = Σ_i p_i r_i: whom a learner meets when i is drawn from p and its opponent from r_i, so that one learner in place of
all meets the same opponents as often. It is exploitable by design: it asks for more of what a policy is good at, not
for safety. Of two populations, p and q, "beats or ties" means at least the game's value, column = Σ_i p_i r_i and
row = Σ_j q_j s_j with s_j(i) ∝ p_i 1[M_ij ≤ value].
"""

import numpy as np

from nashdex.metagame.solvers.nash import nash, nash_of_two
from nashdex.metagame.solvers.solution import Floats, MetaSolver, PairSolution, Solution, payoff_scale

_TIE_TOLERANCE = 1e-9
"""Payoffs this close to the value, as a share of ``payoff_scale``, are ties: the value itself is computed."""


def solver() -> MetaSolver:
    """Return the meta-solver ``rectified-nash``; the residual is that of the equilibrium it starts from."""
    return MetaSolver(
        "rectified-nash", "exploitability of the equilibrium that is rectified", rectified, rectified_of_two
    )


def rectified(payoffs: Floats) -> Solution:
    """Return whom the policies of the equilibrium beat or tie, over all of them."""
    p = nash(payoffs)
    strategy = _met(p.strategy, p.strategy, payoffs)
    return Solution(strategy, float(strategy @ payoffs @ strategy), p.residual, p.status, p.unique)


def rectified_of_two(payoffs: Floats) -> PairSolution:
    """Return whom each side's policies of the equilibrium beat or tie, over all of them."""
    found = nash_of_two(payoffs)
    column = _met(found.row, found.column, payoffs - found.value)
    row = _met(found.column, found.row, (found.value - payoffs).T)
    return PairSolution(row, column, float(row @ payoffs @ column), found.residual, found.status, found.unique)


def _met(learners: Floats, opponents: Floats, margins: Floats) -> Floats:
    """Return Σ_i learners_i r_i, r_i(j) ∝ opponents_j 1[margins_ij ≥ 0], shapes (M,), (N,) and (M, N) giving (N,).

    Whoever is played in an equilibrium gets its value on average, so there is somebody whom it beats or ties; where the
    equilibrium is imprecise, whomever it does best against counts as that.
    """
    playing, played = learners > 0.0, opponents > 0.0
    margins = margins[np.ix_(playing, played)]
    tie = _TIE_TOLERANCE * payoff_scale(margins)
    met = opponents[played] * (margins >= np.minimum(-tie, margins.max(axis=1, keepdims=True)))
    mixture = np.zeros_like(opponents)
    mixture[played] = learners[playing] @ (met / met.sum(axis=1, keepdims=True))
    mixture /= mixture.sum()
    return mixture
