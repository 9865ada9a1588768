"""Solving the empirical game: counts in, mixture and analysis out, with the posterior carried through to both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.documents import (
    SUPPORT_THRESHOLD,
    Coverage,
    DominantPolicy,
    IntervalWidths,
    MetaGameAnalysis,
    MetaStrategy,
)
from nashdex.metagame.analysis.exploitability import (
    Exploitabilities,
    ExploitabilityEstimate,
    best_response_gap,
    exact_best_response_gap,
    exact_exploitability,
    interval,
    legacy_dominance_gap,
    restricted,
)
from nashdex.metagame.evidence.estimates import (
    EVEN,
    Floats,
    Integers,
    centred,
    wilson_interval,
)
from nashdex.metagame.evidence.imputation import Imputation, filled, filled_draws, touches_support
from nashdex.metagame.evidence.ledger import BattleRecord, InteractionMatrix
from nashdex.metagame.ratings.exact import rate_exact
from nashdex.metagame.ratings.table import RatingTable, rate
from nashdex.metagame.solvers.interface import ConfiguredSolver


@dataclass(frozen=True, slots=True)
class Answer:
    """What an iteration's best responses answered, and the battles that tell how well."""

    opponents: Mapping[PolicyId, float]
    """The mixture that they were trained against."""
    candidates: tuple[PolicyId, ...]
    """The policies that are new since."""
    fresh: tuple[BattleRecord, ...]
    """The battles played since."""


@dataclass(frozen=True, slots=True)
class ExactGame:
    """What is known of a tabular game, besides the exact payoffs in its matrix."""

    largest_payoff: float
    """Of any play, to either seat, in the game's units."""
    nash_conv: Callable[[Mapping[PolicyId, float]], float]
    """Takes a mixture to Σ over the seats of what a best response in that seat gains against it."""


@dataclass(frozen=True, slots=True)
class EmpiricalGame:
    """Everything that solving needs to know."""

    matrix: InteractionMatrix
    """Its members come in any order."""
    records: tuple[BattleRecord, ...] = ()
    """Battles that the matrix counts, as far as they are known one by one."""
    answer: Answer | None = None
    """None in an iteration that answered no mixture."""
    anchors: Mapping[str, float] = field(default_factory=dict)
    """Fixed Elo."""
    exact: ExactGame | None = None
    """Set where the matrix holds exact payoffs in place of counts."""
    history: tuple[PolicyId, ...] | None = None
    """Who joined, oldest first, as often as they did, for solvers that go by age; by default as in the matrix."""


_NUM_DECIMALS = 12
"""Of a published mixture. Kernels that BLAS and numpy choose by the processor differ in the sixteenth decimal, and
everything later reads what is published, so nothing tells on which machine it was computed."""

_WITHHELD = Exploitabilities(restricted=None, best_response_gap=None, exact=None, legacy_dominance_gap=None)
"""Nothing is published that made-up payoffs would decide."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the matrix says of the payoffs, and how sure that is. K policies, D draws."""

    payoffs: Floats
    """A of shape (K, K), antisymmetric."""
    drawn: Floats
    """Shape (D, K, K); the one draw of exact payoffs is the payoffs."""
    ratings: RatingTable
    imputed: tuple[tuple[PolicyId, PolicyId], ...] = ()
    """Cells whose payoff was made up."""


def solve_game(
    game: EmpiricalGame,
    solver: ConfiguredSolver,
    *,
    unplayed: Imputation = "block",
    num_draws: int,
    seed: int,
    tick: Callable[[], None] = lambda: None,
) -> tuple[MetaStrategy, MetaGameAnalysis]:
    """Return the mixture that ``solver`` chooses and what is known about it.

    Args:
        game: the counts and what goes with them.
        solver: chooses the mixture.
        unplayed: what to do about a pair that has not played. While a cell that was made up touches the mixture's
            support, no exploitability is published.
        num_draws: posterior draws, each solved again, and bootstrap samples.
        seed: of the draws; they follow ids, so no result depends on an order.
        tick: called once a draw, and may raise to stop.

    Raises:
        DataError: a pair has not played and that blocks, or counts and records do not fit.
    """
    policies = game.matrix.policies
    evidence = _exact_evidence(game, game.exact) if game.exact else _counted_evidence(game, unplayed, num_draws, seed)
    payoffs, drawn = evidence.payoffs, evidence.drawn
    places = _places(game, solver)
    solution = solver.one_population(payoffs[np.ix_(places, places)])
    strategy = _rounded(_by_policy(solution.strategy, places, len(policies)))
    strategies = strategy[None]
    if game.exact is None:
        solved = solver.one_population_of_many(drawn[:, places[:, None], places], tick)
        strategies = _rounded(np.array([_by_policy(weights, places, len(policies)) for weights in solved]))
    in_support = strategies > SUPPORT_THRESHOLD
    played = sorted(
        ((p, float(share)) for p, share in zip(policies, strategy, strict=True) if share > 0),
        key=lambda entry: (-entry[1], entry[0]),
    )
    mixture = dict(zip(policies, strategy.tolist(), strict=True))
    support = tuple(policy for policy, share in played if share > SUPPORT_THRESHOLD)
    unknown = touches_support(evidence.imputed, support)
    analysis = MetaGameAnalysis(
        **dict(evidence.ratings),
        exploitability=_WITHHELD if unknown else _exploitabilities(game, evidence, mixture, num_draws, seed),
        dominant_policies=tuple(DominantPolicy(policy=policy, probability=share) for policy, share in played),
        support=support,
        support_probability=dict(zip(policies, in_support.mean(axis=0).tolist(), strict=True)),
        support_stability=float((in_support == (strategy > SUPPORT_THRESHOLD)).all(axis=1).mean()),
        coverage=_coverage(game.matrix),
        interval_widths=_interval_widths(game.matrix),
        imputed_cells=evidence.imputed,
        num_draws=len(drawn),
    )
    meta_strategy = MetaStrategy(
        meta_strategy=mixture,
        meta_solver=solver.name,
        value=float(_rounded(solution.value)),
        residual=float(_rounded(solution.residual)),
        status=solution.status,
        unique=solution.unique,
        intervals={p: interval(float(strategy[i]), strategies[:, i]) for i, p in enumerate(policies)},
    )
    return meta_strategy, analysis


def _places(game: EmpiricalGame, solver: ConfiguredSolver) -> Integers:
    """Return the rows of the matrix as the solver is to see them: in its own order, or as often as they joined."""
    if game.history is None or not solver.by_age:
        return np.arange(len(game.matrix.policies))
    place = {policy: index for index, policy in enumerate(game.matrix.policies)}
    return np.array([place[policy] for policy in game.history])


def _by_policy(weights: Floats, places: Integers, num_policies: int) -> Floats:
    """Return the weight of each policy: the sum over its places."""
    return np.bincount(places, weights, num_policies).astype(np.float64)


def _rounded(numbers: ArrayLike) -> Floats:
    """Return numbers as they are published, never −0."""
    rounded: Floats = np.asarray(numbers, dtype=np.float64).round(_NUM_DECIMALS) + 0.0
    return rounded


def _counted_evidence(game: EmpiricalGame, unplayed: Imputation, num_draws: int, seed: int) -> _Evidence:
    policies = game.matrix.policies
    wins, draws, games = game.matrix.arrays()
    scores, imputed = filled(policies, wins, draws, games, unplayed)
    drawn = filled_draws(policies, wins, draws, games, unplayed, num_draws=num_draws, seed=seed)
    ratings = rate(
        policies,
        wins,
        draws,
        games,
        anchors=game.anchors,
        records=game.records,
        num_draws=num_draws,
        seed=derive_seed(seed, "ratings"),
    )
    return _Evidence(centred(scores), centred(drawn), ratings, imputed)


def _exact_evidence(game: EmpiricalGame, exact: ExactGame) -> _Evidence:
    policies = game.matrix.policies
    payoffs = np.array(game.matrix.payoffs, dtype=np.float64).reshape(len(policies), len(policies))
    ratings = rate_exact(policies, EVEN + payoffs / (2 * exact.largest_payoff), anchors=game.anchors)
    return _Evidence(payoffs, payoffs[None], ratings)


def _exploitabilities(
    game: EmpiricalGame, evidence: _Evidence, mixture: Mapping[PolicyId, float], num_draws: int, seed: int
) -> Exploitabilities:
    policies, payoffs, drawn = game.matrix.policies, evidence.payoffs, evidence.drawn
    strategy = np.array([mixture[policy] for policy in policies])
    return Exploitabilities(
        restricted=restricted(policies, payoffs, strategy, drawn),
        best_response_gap=_gap(game, payoffs, num_draws, seed),
        exact=game.exact and exact_exploitability(game.exact.nash_conv(mixture)),
        legacy_dominance_gap=legacy_dominance_gap(policies, payoffs, strategy, drawn),
    )


def _gap(game: EmpiricalGame, payoffs: Floats, num_draws: int, seed: int) -> ExploitabilityEstimate | None:
    answer = game.answer
    if answer is None:
        return None
    if game.exact is not None:
        return exact_best_response_gap(game.matrix.policies, payoffs, answer.opponents, answer.candidates)
    return best_response_gap(answer.opponents, answer.candidates, answer.fresh, num_draws=num_draws, seed=seed)


def _coverage(matrix: InteractionMatrix) -> Coverage:
    games = matrix.arrays()[2]
    cells = games[np.triu_indices(len(games), k=1)]
    known = (cells > 0) | (matrix.payoffs is not None)
    return Coverage(
        num_cells=len(cells),
        num_played=int(known.sum()),
        share=float(known.mean()) if len(cells) else 1.0,
        fewest_games=int(cells.min(initial=cells.max(initial=0))),
        most_games=int(cells.max(initial=0)),
    )


def _interval_widths(matrix: InteractionMatrix) -> IntervalWidths:
    wins, draws, games = matrix.arrays()
    rows, columns = np.triu_indices(len(games), k=1)
    if matrix.payoffs is not None or not len(rows):
        return IntervalWidths(mean=0.0, largest=0.0, largest_cell=None)
    low, high = wilson_interval((wins + draws / 2)[rows, columns], games[rows, columns])
    widest = int((high - low).argmax())
    return IntervalWidths(
        mean=float((high - low).mean()),
        largest=float((high - low).max()),
        largest_cell=(matrix.policies[rows[widest]], matrix.policies[columns[widest]]),
    )
