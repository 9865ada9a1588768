"""The meta-solvers that return equilibria or start from one: ``nash``, ``regret-matching`` and ``rectified-nash``.

``nash`` returns an equilibrium to machine precision; where there are many, the one of maximum entropy.

``regret-matching`` plays each policy in proportion to its regret; the average is the answer. Hart and Mas-Colell
(2000), "A simple adaptive procedure leading to correlated equilibrium", with the exploration of the PSRO literature:
R ← R + Aσ − σᵀAσ, σ ∝ (1 − γ) R⁺ + γ / K. In zero-sum games the average is an equilibrium in the limit, at a rate of
1/√T. Posterior draws take a tenth of the iterations.

``rectified-nash`` returns the opponents that the policies of an equilibrium beat or tie, as in PSRO_rN. Balduzzi et al.
(2019), "Open-ended learning in symmetric zero-sum games", arXiv 1901.08106, algorithm 4: every policy i of the
equilibrium p has a learner of its own. This learner meets the policies that i beats or ties, in p's proportions:
r_i(j) ∝ p_j 1[A_ij ≥ 0]. The paper keeps these mixtures apart. A meta-solver returns one mixture: σ = Σ_i p_i r_i, with
i drawn from p and the opponent from r_i, so that one learner meets the same opponents as often as all of them together.
It is exploitable by design: it asks for more of what a policy is good at, not for safety. With two populations p and q,
"beats or ties" means at least the game's value, column = Σ_i p_i r_i and row = Σ_j q_j s_j with
s_j(i) ∝ p_i 1[M_ij ≤ value]. The residual is the equilibrium's.
"""

from collections.abc import Callable, Iterable

import numpy as np

from nashdex.metagame.equilibria import (
    LARGEST_SIZE,
    Equilibrium,
    Floats,
    gains,
    payoff_scale,
    small_equilibria,
    symmetric_equilibrium,
    zero_sum_equilibrium,
)
from nashdex.metagame.evidence.estimates import DrawnColumns
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution, Status
from nashdex.metagame.solvers.repeated_play import DRAW_SHARE, average_of_one, average_of_two, averaged, averaged_pair
from nashdex.settings.solve import NashSettings, RectifiedNashSettings, RegretMatchingSettings

_PRECISION = 1e-9
"""Largest residual of an optimal answer, as a share of the largest payoff."""
_MANY = 64
"""From this many policies on, solving for a few candidates first is quicker than one linear program of all."""
_NUM_ROUNDS = 200
_CANDIDATE_WEIGHT = 5e-3
_CANDIDATE_LOSS = 0.02
_MAX_ADDITIONS = 4
_STRICT_LOSS = 1e-9
"""A policy that loses more than this, in score or with payoffs scaled to ±1, is not played in any equilibrium."""
_SMALL_LOSS = 0.05
"""A policy that loses less than this against a draw's solution may be played in it once more candidates are known."""
_MOST_GUESSED = 64
"""Candidates up to which a draw takes columns that only others need."""
_HELD_BYTES = 256 << 20
"""Memory of the candidates' columns of the draws that are solved together."""
_NUMBER_BYTES = 8
_MOST_COLUMNS = 1000
"""Columns that are drawn. A population whose draws play more policies, or hold more columns than fit into memory, is
solved in blocks of whole draws."""

_CLEAR_WIN = 1e-9
"""As a share of the largest payoff: what rounding cannot make."""


def nash(payoffs: Floats) -> Solution:
    """Return the equilibrium of one population by linear programming, of many the one of maximum entropy."""
    found = _among_candidates(payoffs) if len(payoffs) >= _MANY else None
    if found is None:
        found = symmetric_equilibrium(payoffs)
    sigma = found.row
    residual = max(0.0, float(np.max(payoffs @ sigma)))
    status = _status(found, residual, payoffs)
    return Solution(sigma, float(sigma @ payoffs @ sigma), residual, status, found.unique)


def nash_of_many(payoffs: Floats) -> Floats:
    """Return the equilibria of one population's payoffs (D, K, K), one mixture a row, as ``nash`` gives them."""
    # A policy that beats every other is the only equilibrium: there is nothing to solve.
    least = _CLEAR_WIN * np.abs(payoffs).max(axis=(1, 2), keepdims=True)
    strategies: Floats = ((payoffs > least).sum(axis=2) == payoffs.shape[1] - 1).astype(np.float64)
    open_games = np.flatnonzero(~strategies.any(axis=1))
    if payoffs.shape[1] <= LARGEST_SIZE:
        strategies[open_games], unsolved = small_equilibria(payoffs[open_games])
        open_games = open_games[unsolved]
    for place in open_games:
        strategies[place] = nash(payoffs[place]).strategy
    return strategies


def nash_of_two(payoffs: Floats) -> PairSolution:
    """Return the equilibrium of two populations, each mixture of maximum entropy among that player's optimal ones."""
    found = zero_sum_equilibrium(payoffs)
    residual = max(0.0, float(np.max(payoffs @ found.column) - np.min(found.row @ payoffs)))
    value = float(found.row @ payoffs @ found.column)
    return PairSolution(found.row, found.column, value, residual, _status(found, residual, payoffs), found.unique)


def _status(found: Equilibrium, residual: float, payoffs: Floats) -> Status:
    precise = found.exact and residual <= _PRECISION * float(np.abs(payoffs).max())
    return "optimal" if precise else "imprecise"


def _among_candidates(payoffs: Floats) -> Equilibrium | None:
    """Return the equilibrium of many policies from the equilibrium of a few, or None where that proves nothing.

    Regret matching guesses who may be played. If the equilibrium among those is unique and every other policy loses
    against it, then it is the equilibrium of all, and unique there too: optimal mixtures are interchangeable, so none
    plays a policy that loses against one of them.
    """
    scaled, size = payoffs / payoff_scale(payoffs), len(payoffs)
    guess = average_of_one(RegretMatcher((size,)), scaled, _NUM_ROUNDS)
    candidates = (guess > _CANDIDATE_WEIGHT) | (gains(scaled, guess) > -_CANDIDATE_LOSS)
    for _ in range(_MAX_ADDITIONS):
        members = np.flatnonzero(candidates)
        found = symmetric_equilibrium(payoffs[np.ix_(members, members)])
        strategy = np.zeros(size)
        strategy[members] = found.row
        missing = ~candidates & (gains(scaled, strategy) > -_STRICT_LOSS)
        if not missing.any():
            return Equilibrium(strategy, strategy, unique=True, exact=found.exact) if found.unique else None
        candidates |= missing
    return None


def nash_of_columns(
    columns: DrawnColumns, first: Iterable[int], num_policies: int, tick: Callable[[], None]
) -> Floats | None:
    """Return the equilibrium of each of D draws of a large game, from the few columns that they need, shape (D, K).

    An equilibrium of a large population plays few policies, and whether another one could join shows in its payoffs
    against these alone. So each draw is solved among candidates. The policy that gains most against the solution
    becomes a candidate too, until none gains (a double oracle: McMahan, Gordon and Blum 2003, "Planning in the presence
    of cost functions controlled by an adversary"). A solution against which all others lose is an equilibrium of the
    whole game. It is what ``nash`` finds if it is the only one, as in draws from a posterior; some linear programs are
    imprecise (10⁻⁶).

    A column is drawn for all draws at once, which takes longer than a linear program. So draws take turns, and each
    also takes the columns that others need, if those policies lose little against its own solution.

    ``first`` are the places of the first candidates. ``tick`` is called once a draw, and may raise to stop.

    Returns:
        None where the draws together play too many policies to draw, or to hold, their columns.
    """
    strategies = np.zeros((columns.num_draws, num_policies))
    most_held = _HELD_BYTES // (_NUMBER_BYTES * num_policies)
    together = max(1, most_held // _MOST_GUESSED)
    for start in range(0, columns.num_draws, together):
        draws = range(start, min(start + together, columns.num_draws))
        if not _solve_together(columns, draws, first, most_held, strategies, tick):
            return None
    return strategies


def _solve_together(
    columns: DrawnColumns,
    draws: Iterable[int],
    first: Iterable[int],
    most_held: int,
    strategies: Floats,
    tick: Callable[[], None],
) -> bool:
    """Write the equilibria of ``draws`` into ``strategies`` of shape (D, K).

    False if that takes too many columns, or more than ``most_held`` candidates at once, all draws together.
    """
    gains = np.zeros_like(strategies)
    # By open draw: the payoffs against each candidate, shape (K,).
    held: dict[int, dict[int, Floats]] = {draw: {} for draw in draws}
    wanted = {draw: set(first) for draw in held}
    while held:
        for place in sorted(set().union(*wanted.values())):
            if columns.num_drawn >= _MOST_COLUMNS or sum(map(len, held.values())) > most_held:
                return False
            column = columns[place]
            for draw, candidates in held.items():
                is_likely = len(candidates) < _MOST_GUESSED and gains[draw, place] > -_SMALL_LOSS
                if place in wanted[draw] or is_likely:
                    candidates[place] = column[draw].copy()
        wanted = {}
        for draw in [*held]:
            members = sorted(held[draw])
            payoffs = np.stack([held[draw][member] for member in members], axis=1)
            found = symmetric_equilibrium(payoffs[members])
            gains[draw] = payoffs @ found.row
            gains[draw, members] = -np.inf
            best = int(gains[draw].argmax())
            if gains[draw, best] > -_STRICT_LOSS:
                wanted[draw] = {best}
            else:
                strategies[draw, members] = found.row
                del held[draw]
                tick()
    return True


NASH = MetaSolver(
    settings=NashSettings,
    summary="an equilibrium; where there are many, the one of maximum entropy",
    promise="exploitability",
    one_population=lambda payoffs, _: nash(payoffs),
    batched=lambda payoffs, _: nash_of_many(payoffs),
    two_populations=lambda payoffs, _: nash_of_two(payoffs),
    of_columns=nash_of_columns,
)


_EXPLORATION = 1e-6
"""γ."""
_FIRST_REGRET = 1e-6
"""First regret of every policy, as a share of ``payoff_scale``, so that rounding does not choose the first mixture."""


class RegretMatcher:
    """A learner (``repeated_play.Learner``) that matches its regrets."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.strategy = np.full(shape, 1.0 / shape[-1])
        self._uniform = self.strategy
        self._regrets = np.full(shape, _FIRST_REGRET)

    def observe(self, payoffs: Floats) -> None:
        """Add each policy's regret, its payoff beyond the mixture's, and match."""
        self._regrets += payoffs - (payoffs * self.strategy).sum(axis=-1, keepdims=True)
        regretted = np.maximum(self._regrets, 0.0)
        total = regretted.sum(axis=-1, keepdims=True)
        matched = np.divide(regretted, total, out=self._uniform.copy(), where=total > 0.0)
        self.strategy = (1.0 - _EXPLORATION) * matched + _EXPLORATION * self._uniform


def _matched_pair(payoffs: Floats, settings: RegretMatchingSettings) -> PairSolution:
    scaled, (num_rows, num_columns) = payoffs / payoff_scale(payoffs), payoffs.shape
    row, column = RegretMatcher((num_rows,)), RegretMatcher((num_columns,))
    strategies = average_of_two(row, column, scaled, -scaled, settings.num_iterations)
    return averaged_pair(payoffs, -payoffs, strategies, settings.num_iterations)


def _averages(payoffs: Floats, num_iterations: int) -> Floats:
    return average_of_one(RegretMatcher(payoffs.shape[:-1]), payoffs / payoff_scale(payoffs), num_iterations)


REGRET_MATCHING = MetaSolver(
    settings=RegretMatchingSettings,
    summary="average of play in proportion to regret",
    promise="exploitability",
    one_population=lambda payoffs, settings: averaged(
        payoffs, _averages(payoffs, settings.num_iterations), settings.num_iterations
    ),
    two_populations=_matched_pair,
    batched=lambda payoffs, settings: _averages(payoffs, -(-settings.num_iterations // DRAW_SHARE)),
)


_TIE_TOLERANCE = 1e-9
"""Payoffs this close to the value, as a share of ``payoff_scale``, are ties: the value itself is computed."""


def _rectified(payoffs: Floats, settings: RectifiedNashSettings) -> Solution:
    del settings
    p = nash(payoffs)
    strategy = _beaten_or_tied(p.strategy, p.strategy, payoffs)
    return Solution(strategy, float(strategy @ payoffs @ strategy), p.residual, p.status, p.unique)


def _rectified_pair(payoffs: Floats, settings: RectifiedNashSettings) -> PairSolution:
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
    one_population=_rectified,
    two_populations=_rectified_pair,
)
