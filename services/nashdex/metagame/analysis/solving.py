"""Solving the empirical game: payoff evidence in, mixture and analysis out, with the posterior of both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.documents import SUPPORT_THRESHOLD, DominantPolicy, MetaGameAnalysis, MetaStrategy
from nashdex.metagame.analysis.exploitability import (
    Answer,
    Exploitabilities,
    exact_exploitability,
    interval,
    legacy_dominance_gap,
    restricted,
)
from nashdex.metagame.evidence.estimates import CONFIDENCE, Floats, Integers
from nashdex.metagame.evidence.imputation import Cells, Imputation, Name, touches_support
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.large import is_large
from nashdex.metagame.evidence.matrix import InteractionMatrix, Payoffs
from nashdex.metagame.solvers.interface import ConfiguredSolver


@dataclass(frozen=True, slots=True)
class EmpiricalGame:
    """All inputs of solving."""

    matrix: InteractionMatrix
    """Its members come in any order."""
    answer: Answer | None = None
    """None in an iteration that answered no mixture."""
    anchors: Mapping[str, float] = field(default_factory=dict)
    """Fixed Elo."""
    nash_conv: Callable[[Mapping[PolicyId, float]], float] | None = None
    """Maps a mixture to the sum, over the seats, of a best response's gain against it. None if the game tree is too
    large."""
    history: tuple[PolicyId, ...] | None = None
    """Members in the order of joining, repeats included, for solvers that go by age; by default the matrix's order."""


_NUM_DECIMALS = 12
"""Decimals of a published mixture. The kernels of BLAS and numpy depend on the processor, and their results differ in
the sixteenth decimal. All later steps read the published mixture, so no later number depends on the machine."""


def solve_game(
    game: EmpiricalGame,
    solver: ConfiguredSolver,
    *,
    unplayed: Imputation = "block",
    num_draws: int,
    seed: int,
    tick: Callable[[], None] = lambda: None,
) -> tuple[MetaStrategy, MetaGameAnalysis]:
    """Return the mixture chosen by ``solver``, and its analysis.

    Args:
        game: the evidence, and the further inputs.
        solver: chooses the mixture.
        unplayed: how to impute the payoff of a pair that has not played. While an imputed cell touches the mixture's
            support, nothing is published that it would decide: only the best-response gap, from its own battles.
        num_draws: posterior draws, each solved again, and bootstrap samples.
        seed: of the draws; they follow ids, so no result depends on an order.
        tick: called once a draw, and may raise to stop.

    Raises:
        DataError: a pair has not played and that blocks.
    """
    policies = game.matrix.policies
    payoffs = game.matrix.payoffs_with(unplayed, num_draws=num_draws, seed=seed)
    ratings = game.matrix.rated(game.anchors, num_draws=num_draws, seed=derive_seed(seed, "ratings"))
    places = places_of(policies, game.history, solver)
    solution = solver.one_population(payoffs.values[np.ix_(places, places)])
    strategy = _rounded(by_policy(solution.strategy, places, len(policies)))
    drawn = drawn_mixtures(payoffs, strategy, places, solver, tick)
    strategies = drawn.strategies
    in_support = strategies > SUPPORT_THRESHOLD
    played = sorted(
        ((p, float(share)) for p, share in zip(policies, strategy, strict=True) if share > 0),
        key=lambda entry: (-entry[1], entry[0]),
    )
    mixture = dict(zip(policies, strategy.tolist(), strict=True))
    support = tuple(policy for policy, share in played if share > SUPPORT_THRESHOLD)
    known = not touches_support(payoffs.imputed, support)
    analysis = MetaGameAnalysis(
        **dict(ratings),
        exploitability=_exploitabilities(game, payoffs.values, strategy, drawn, is_known=known),
        dominant_policies=tuple(DominantPolicy(policy=policy, probability=share) for policy, share in played),
        support=support,
        support_probability=dict(zip(policies, in_support.mean(axis=0).tolist(), strict=True)),
        support_stability=float((in_support == (strategy > SUPPORT_THRESHOLD)).all(axis=1).mean()),
        coverage=game.matrix.coverage(),
        pairs=game.matrix.pair_statistics(),
        interval_widths=game.matrix.interval_widths(),
        imputed_cells=published_cells(payoffs.imputed, support, len(policies)),
        num_draws=len(strategies),
    )
    meta_strategy = MetaStrategy(
        meta_strategy=mixture,
        meta_solver=solver.name,
        value=float(_rounded(solution.value)),
        residual=float(_rounded(solution.residual)),
        status=solution.status,
        unique=solution.unique,
        entropy=_entropy(strategy, strategies),
        intervals={p: interval(float(strategy[i]), strategies[:, i]) for i, p in enumerate(policies)},
    )
    return meta_strategy, analysis


def published_cells(cells: Cells[Name], support: Sequence[Name], num_policies: int) -> Cells[Name]:
    """Return the imputed cells that are published: of a large population, those of the support alone."""
    if not is_large(num_policies):
        return cells
    played = set(support)
    return tuple(cell for cell in cells if not played.isdisjoint(cell))


def _entropy(strategy: Floats, strategies: Floats) -> Estimate:
    """Return −Σ σ log σ in nats of ``strategy`` of shape (K,), and its interval over draws of shape (D, K).

    A draw breaks every tie, so its equilibrium is over few policies even where the true one is over all. So the upper
    end is at least the entropy of an even mixture of all policies that 2.5 % of the draws play: conservative.
    """

    def of(mixtures: Floats) -> Floats:
        entropies: Floats = -(mixtures * np.log(np.where(mixtures > 0, mixtures, 1.0))).sum(axis=-1) + 0.0
        return entropies

    value = float(of(strategy))
    bounds = interval(value, of(strategies))
    possible = (np.quantile(strategies, (1 + CONFIDENCE) / 2, axis=0) > SUPPORT_THRESHOLD).sum()
    highest = float(np.log(max(1, possible))) if len(strategies) > 1 else value
    return Estimate(value=value, low=bounds.low, high=max(bounds.high, highest))


def places_of(policies: Sequence[str], history: Sequence[str] | None, solver: ConfiguredSolver) -> Integers:
    """Return the rows that the solver sees: in the order of ``policies``, or by age and as often as they joined.

    ``history`` are the members in the order of joining; None is the order of ``policies``.
    """
    if history is None or not solver.by_age:
        return np.arange(len(policies))
    place = {policy: index for index, policy in enumerate(policies)}
    return np.array([place[policy] for policy in history])


def by_policy(weights: Floats, places: Integers, num_policies: int) -> Floats:
    """Return the weight of each policy: the sum over its places."""
    return np.bincount(places, weights, num_policies).astype(np.float64)


def _rounded(numbers: ArrayLike) -> Floats:
    """Return numbers as they are published, never −0."""
    return np.asarray(numbers, dtype=np.float64).round(_NUM_DECIMALS) + 0.0


@dataclass(frozen=True, slots=True)
class DrawnMixtures:
    """Gains and losses in each draw of the payoffs, (D, K) each. Exact payoffs are the only draw of themselves."""

    strategies: Floats
    """The draw's own mixture."""
    gains: Floats
    """Gain of each member against the judged mixture."""
    losses: Floats
    """Gain of the judged mixture against each member."""


_CLOSE = 0.01
"""Loss against the mixture below which a policy of a large population may be played in many draws."""


def drawn_mixtures(
    payoffs: Payoffs,
    strategy: Floats,
    places: Integers,
    solver: ConfiguredSolver,
    tick: Callable[[], None] = lambda: None,
) -> DrawnMixtures:
    """Solve each draw of ``payoffs``, and compare it with ``strategy`` of shape (K,).

    ``places`` are the rows that the solver sees: all in order, unless it goes by age. ``tick`` is called once a draw.
    """
    if payoffs.draws is None:
        return DrawnMixtures(strategy[None], payoffs.values[None] @ strategy, strategy @ payoffs.values[None])
    if is_large(len(strategy)) and solver.solver.of_columns and payoffs.columns:
        close = np.flatnonzero((payoffs.values @ strategy > -_CLOSE) | (strategy > 0)).tolist()
        found = solver.solver.of_columns(payoffs.columns, close, len(strategy), tick)
        if found is not None:
            gains = sum(share * payoffs.columns[place] for place, share in enumerate(strategy.tolist()) if share)
            return DrawnMixtures(_rounded(found), np.asarray(gains), -np.asarray(gains))
    in_order = len(places) == len(strategy) and bool((places == np.arange(len(places))).all())
    solved, gains, losses = [], [], []
    for block in payoffs.draws():
        seen = block if in_order else block[:, places[:, None], places]
        solved += [by_policy(weights, places, len(strategy)) for weights in solver.one_population_of_many(seen, tick)]
        gains.append(block @ strategy)
        losses.append(strategy @ block)
    return DrawnMixtures(_rounded(np.array(solved)), np.concatenate(gains), np.concatenate(losses))


def _exploitabilities(
    game: EmpiricalGame, values: Floats, strategy: Floats, drawn: DrawnMixtures, *, is_known: bool
) -> Exploitabilities:
    """Return every estimate; where the mixture's payoffs are not known, only the one that has battles of its own."""
    policies, answer = game.matrix.policies, game.answer
    gap = answer and game.matrix.best_response_gap(answer)
    if not is_known:
        return Exploitabilities(restricted=None, best_response_gap=gap, exact=None, legacy_dominance_gap=None)
    mixture = dict(zip(policies, strategy.tolist(), strict=True))
    return Exploitabilities(
        restricted=restricted(policies, values, strategy, drawn.gains),
        best_response_gap=gap,
        exact=game.nash_conv and exact_exploitability(game.nash_conv(mixture)),
        legacy_dominance_gap=legacy_dominance_gap(policies, values, strategy, drawn.losses),
    )
