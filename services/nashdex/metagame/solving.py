"""Solving the empirical game: counts in, mixture and analysis out, with the posterior carried through to both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis import (
    SUPPORT_THRESHOLD,
    Coverage,
    DominantPolicy,
    IntervalWidths,
    MetaGameAnalysis,
    MetaStrategy,
)
from nashdex.metagame.exploitability import (
    Exploitabilities,
    best_response_gap,
    interval,
    legacy_dominance_gap,
    restricted,
)
from nashdex.metagame.ledger import BattleRecord, InteractionMatrix
from nashdex.metagame.meta_solvers import MetaSolver
from nashdex.metagame.payoffs import (
    Floats,
    centred,
    expected_scores,
    posterior_scores,
    require_played,
    wilson_interval,
)
from nashdex.metagame.ratings import rate


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
class EmpiricalGame:
    """Everything that solving needs to know."""

    matrix: InteractionMatrix
    """Members oldest first, which only ``last`` looks at."""
    records: tuple[BattleRecord, ...] = ()
    """Battles that the matrix counts, as far as they are known one by one."""
    answer: Answer | None = None
    """None in an iteration that answered no mixture."""
    anchors: Mapping[str, float] = field(default_factory=dict)
    """Fixed Elo."""


def solve_game(
    game: EmpiricalGame, solver: MetaSolver, *, num_draws: int, seed: int, tick: Callable[[], None] = lambda: None
) -> tuple[MetaStrategy, MetaGameAnalysis]:
    """Return the mixture that ``solver`` chooses and what is known about it.

    Args:
        game: the counts and what goes with them.
        solver: chooses the mixture.
        num_draws: posterior draws, each solved again, and bootstrap samples.
        seed: of the draws; they follow ids, so no result depends on an order.
        tick: called once a draw, and may raise to stop.

    Raises:
        DataError: a pair has not played, or counts and records do not fit.
    """
    policies = game.matrix.policies
    wins, draws, games = game.matrix.arrays()
    require_played(policies, games)
    payoffs = centred(expected_scores(wins, draws, games))
    drawn = centred(posterior_scores(policies, wins, draws, games, num_draws=num_draws, seed=seed))

    solution = solver.one_population(payoffs)
    strategy, strategies = solution.strategy, _solved_draws(solver, drawn, tick)
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
    in_support = strategies > SUPPORT_THRESHOLD
    played = sorted(
        ((p, float(share)) for p, share in zip(policies, strategy, strict=True) if share > 0),
        key=lambda entry: (-entry[1], entry[0]),
    )
    answer = game.answer
    analysis = MetaGameAnalysis(
        **dict(ratings),
        exploitability=Exploitabilities(
            restricted=restricted(policies, payoffs, strategy, drawn),
            best_response_gap=answer
            and best_response_gap(answer.opponents, answer.candidates, answer.fresh, num_draws=num_draws, seed=seed),
            exact=None,
            legacy_dominance_gap=legacy_dominance_gap(policies, payoffs, strategy, drawn),
        ),
        dominant_policies=tuple(DominantPolicy(policy=policy, probability=share) for policy, share in played),
        support=tuple(policy for policy, share in played if share > SUPPORT_THRESHOLD),
        support_probability=dict(zip(policies, in_support.mean(axis=0).tolist(), strict=True)),
        support_stability=float((in_support == (strategy > SUPPORT_THRESHOLD)).all(axis=1).mean()),
        coverage=_coverage(game.matrix),
        interval_widths=_interval_widths(game.matrix),
        imputed_cells=(),
        num_draws=num_draws,
    )
    meta_strategy = MetaStrategy(
        meta_strategy=dict(zip(policies, strategy.tolist(), strict=True)),
        meta_solver=solver.name,
        value=solution.value,
        residual=solution.residual,
        status=solution.status,
        unique=solution.unique,
        intervals={p: interval(float(strategy[i]), strategies[:, i]) for i, p in enumerate(policies)},
    )
    return meta_strategy, analysis


def _solved_draws(solver: MetaSolver, drawn: Floats, tick: Callable[[], None]) -> Floats:
    """Return the mixture of each drawn payoff matrix, shape (D, K)."""
    strategies = np.empty(drawn.shape[:2])
    for index, payoffs in enumerate(drawn):
        strategies[index] = solver.one_population(payoffs).strategy
        tick()
    return strategies


def _coverage(matrix: InteractionMatrix) -> Coverage:
    games = matrix.arrays()[2]
    cells = games[np.triu_indices(len(games), k=1)]
    return Coverage(
        num_cells=len(cells),
        num_played=int((cells > 0).sum()),
        share=float((cells > 0).mean()) if len(cells) else 1.0,
        fewest_games=int(cells.min(initial=cells.max(initial=0))),
        most_games=int(cells.max(initial=0)),
    )


def _interval_widths(matrix: InteractionMatrix) -> IntervalWidths:
    wins, draws, games = matrix.arrays()
    rows, columns = np.triu_indices(len(games), k=1)
    if not len(rows):
        return IntervalWidths(mean=0.0, largest=0.0, largest_cell=None)
    low, high = wilson_interval((wins + draws / 2)[rows, columns], games[rows, columns])
    widest = int((high - low).argmax())
    return IntervalWidths(
        mean=float((high - low).mean()),
        largest=float((high - low).max()),
        largest_cell=(matrix.policies[rows[widest]], matrix.policies[columns[widest]]),
    )
