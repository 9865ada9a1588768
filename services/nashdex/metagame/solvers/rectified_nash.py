"""The meta-solver ``rectified-nash``: the opponents that the policies of an equilibrium beat or tie, as in PSRO_rN.

Balduzzi et al. (2019), "Open-ended learning in symmetric zero-sum games", arXiv 1901.08106, algorithm 4: every policy i
of the equilibrium p has a learner of its own. This learner meets the policies that i beats or ties, in p's proportions:
r_i(j) ∝ p_j 1[A_ij ≥ 0]. The paper keeps these mixtures apart. A meta-solver returns one mixture: σ = Σ_i p_i r_i, with
i drawn from p and the opponent from r_i, so that one learner meets the same opponents as often as all of them together.
It is exploitable by design: it asks for more of what a policy is good at, not for safety. With two populations p and q,
"beats or ties" means at least the game's value, column = Σ_i p_i r_i and row = Σ_j q_j s_j with
s_j(i) ∝ p_i 1[M_ij ≤ value]. The residual is the equilibrium's.
"""

import numpy as np

from nashdex.metagame.equilibria.gains import Floats, payoff_scale
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution
from nashdex.metagame.solvers.nash import nash, nash_of_two
from nashdex.settings.solve import RectifiedNashSettings

_TIE_TOLERANCE = 1e-9
"""Payoffs this close to the value, as a share of ``payoff_scale``, are ties: the value itself is computed."""


def _one_population(payoffs: Floats, settings: RectifiedNashSettings) -> Solution:
    del settings
    p = nash(payoffs)
    strategy = _beaten_or_tied(p.strategy, p.strategy, payoffs)
    return Solution(strategy, float(strategy @ payoffs @ strategy), p.residual, p.status, p.unique)


def _two_populations(payoffs: Floats, settings: RectifiedNashSettings) -> PairSolution:
    del settings
    found = nash_of_two(payoffs)
    column = _beaten_or_tied(found.row, found.column, payoffs - found.value)
    row = _beaten_or_tied(found.column, found.row, (found.value - payoffs).T)
    return PairSolution(row, column, float(row @ payoffs @ column), found.residual, found.status, found.unique)


def _beaten_or_tied(learners: Floats, opponents: Floats, margins: Floats) -> Floats:
    """Return Σ_i learners_i r_i, r_i(j) ∝ opponents_j 1[margins_ij ≥ 0], shapes (M,), (N,) and (M, N) giving (N,).

    A policy of an equilibrium earns its value on average, so it beats or ties someone; where the equilibrium is
    imprecise and it does not, its best matchup counts.
    """
    playing, played = learners > 0.0, opponents > 0.0
    margins = margins[np.ix_(playing, played)]
    tie = _TIE_TOLERANCE * payoff_scale(margins)
    met = opponents[played] * (margins >= np.minimum(-tie, margins.max(axis=1, keepdims=True)))
    mixture = np.zeros_like(opponents)
    mixture[played] = learners[playing] @ (met / met.sum(axis=1, keepdims=True))
    mixture /= mixture.sum()
    return mixture


RECTIFIED_NASH = MetaSolver(
    settings=RectifiedNashSettings,
    summary="the opponents that the policies of the equilibrium beat or tie",
    promise="exploitability of the equilibrium that is rectified",
    one_population=_one_population,
    two_populations=_two_populations,
)
