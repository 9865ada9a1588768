"""The parts of a report that depend on the kind of payoff evidence, chosen by ``parts``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.analysis.embedding import Payoffs, first_disc, share_interval, transitive_part
from nashdex.metagame.analysis.progress import improvement, mixture_scores
from nashdex.metagame.evidence import large
from nashdex.metagame.evidence.counts import unplayed_cells
from nashdex.metagame.evidence.estimates import cell_intervals
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.population import newest
from nashdex.metagame.tournament.schedule import full_table_battles
from nashdex.report.assembly.iterations import estimates_by, newest_gap
from nashdex.report.document import (
    MAX_PICTURED_POLICIES,
    AnchorPayoff,
    AnchorScore,
    Cell,
    Embedding,
    EmbeddingPoint,
    IterationRow,
    NewestTrained,
    PayoffMatrix,
    Progress,
)
from nashdex.report.sources import IterationSources
from nashdex.report.words import findings
from nashdex.settings.run import RunSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the parts are made from."""

    settings: RunSettings
    last: IterationSources
    rows: Sequence[IterationRow]
    """Every iteration so far."""
    names: Mapping[PolicyId, str]
    """Display names."""
    base: PolicyId | None
    """The first trained network."""
    anchors: Sequence[PolicyId]
    by_rating: Sequence[PolicyId]
    """The members by falling rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Fields of the same names in ``Report``."""

    leading_findings: tuple[str, ...] = ()
    """``findings`` before that about the mixture."""
    findings: tuple[str, ...]
    """``findings`` after it."""
    payoffs: PayoffMatrix
    embedding: Embedding | None
    anchor_scores: tuple[AnchorScore, ...] = ()
    anchor_payoffs: tuple[AnchorPayoff, ...] = ()
    trained: NewestTrained | None = None
    progress: Progress | None = None


_FEWEST_PICTURED = 3
"""A cycle has at least three policies."""


def embedding(order: Sequence[PolicyId], payoffs: Payoffs) -> Embedding | None:
    """Return the largest disc of what ratings do not explain; None if there is none to show."""
    if not _FEWEST_PICTURED <= len(order) <= MAX_PICTURED_POLICIES:
        return None
    disc = first_disc(order, payoffs.estimates, payoffs.transitive)
    if disc is None:
        return None
    return Embedding(
        points=tuple(
            EmbeddingPoint(policy=policy, x=x, y=y)
            for policy, (x, y) in zip(order, disc.positions.tolist(), strict=True)
        ),
        share=disc.share,
        share_interval=share_interval(disc.share, payoffs),
    )


def exact_parts(context: Context, matrix: ExactValues) -> Parts:
    """Return the parts of a report whose payoffs are exact."""
    rows, names = context.rows, context.names
    order = _tabled(context)
    ordered = matrix.restricted_to(order)
    anchors = _anchor_payoffs(context, matrix)
    return Parts(
        findings=(
            findings.exact_finding(estimates_by(rows, "exact")),
            findings.unjudged_finding(rows[-1], names)
            or findings.exact_best_response_finding(newest_gap(rows), names, findings.answered_mixture(rows[-1])),
            findings.anchor_payoffs_finding(anchors, names),
        ),
        payoffs=PayoffMatrix(
            policies=tuple(order),
            cells=None,
            exact=ordered.payoffs,
            imputed=context.last.analysis.imputed_cells,
            battles=0,
            full_table_battles=None,
            num_omitted=len(context.by_rating) - len(order),
        ),
        embedding=embedding(order, Payoffs(ordered.array(), transitive_part(ordered.array()))),
        anchor_payoffs=anchors,
    )


def _anchor_payoffs(context: Context, matrix: ExactValues) -> tuple[AnchorPayoff, ...]:
    """Return the mixture's payoff against each anchor that is not the whole mixture."""
    strategy = context.last.meta_strategy.meta_strategy
    mixed = np.array([strategy[policy] for policy in matrix.policies]) @ matrix.array()
    return tuple(
        AnchorPayoff(opponent=anchor, payoff=float(mixed[matrix.policies.index(anchor)]))
        for anchor in context.anchors
        if strategy[anchor] < 1.0
    )


def sampled_parts(context: Context, matrix: SampledCounts) -> Parts:
    """Return the parts of a report whose payoffs are estimated from battles."""
    rows, names = context.rows, context.names
    ordered = matrix.restricted_to(_tabled(context))
    scores, improved = _anchor_scores(context, matrix), _progress(context)
    payoffs = _payoff_matrix(context, ordered, matrix)
    trained = _newest_trained(context, payoffs)
    return Parts(
        leading_findings=()
        if trained is None
        else (*findings.trained_findings(trained, names), findings.progress_finding(improved, names)),
        findings=(
            findings.anchors_finding(scores, names),
            findings.unjudged_finding(rows[-1], names)
            or findings.best_response_finding(newest_gap(rows), names, findings.answered_mixture(rows[-1])),
        ),
        payoffs=payoffs,
        embedding=sampled_embedding(context.last.analysis, ordered),
        anchor_scores=scores,
        trained=trained,
        progress=improved,
    )


def _anchor_scores(context: Context, matrix: SampledCounts) -> tuple[AnchorScore, ...]:
    """Return the mixture's score against each anchor."""
    scores = mixture_scores(matrix, context.last.meta_strategy.meta_strategy, context.anchors)
    return tuple(
        AnchorScore(
            opponent=score.opponent,
            rate=Estimate(value=score.value, low=score.low, high=score.high),
            games=score.games,
        )
        for score in scores
    )


def _newest_trained(context: Context, payoffs: PayoffMatrix) -> NewestTrained | None:
    """Return the scores of the newest trained policy, and of the one that training began with."""
    found = _newest_and_root(context)
    if found is None:
        return None
    policy, root = found
    base = None if root == policy else root
    return NewestTrained(
        policy=policy,
        scores=_scores_of(policy, context, payoffs),
        base=base,
        base_scores=() if base is None else _scores_of(base, context, payoffs),
    )


def _newest_and_root(context: Context) -> tuple[PolicyId, PolicyId] | None:
    """Return the newest trained policy and the one that training began with, itself if nothing was before it."""
    members = context.last.population.policies
    trained = [entry for entry in members if not entry.is_anchor]
    if not trained:
        return None
    policy = newest(trained, {policy: rating.elo for policy, rating in context.last.analysis.ratings.items()}).id
    return policy, _root(policy, {entry.id: entry.parent for entry in members})


def _root(policy: PolicyId, parents: Mapping[PolicyId, PolicyId | None]) -> PolicyId:
    """Return the first of the members from whose weights ``policy`` descends: itself if it has no parent here."""
    while (parent := parents[policy]) is not None and parent in parents:
        policy = parent
    return policy


def _scores_of(policy: PolicyId, context: Context, payoffs: PayoffMatrix) -> tuple[AnchorScore, ...]:
    """Return the scores of ``policy`` against the anchors that it has met: where training began, then by rating."""
    assert payoffs.cells is not None
    met = zip(payoffs.policies, payoffs.cells[payoffs.policies.index(policy)], strict=True)
    scores = [
        AnchorScore(opponent=opponent, rate=cell.rate, games=cell.wins + cell.draws + cell.losses)
        for opponent, cell in met
        if cell is not None and opponent in context.anchors
    ]
    return tuple(sorted(scores, key=lambda score: score.opponent != context.base))


def _progress(context: Context) -> Progress | None:
    """Return the Elo of the best trained policy above the first network, where enough battles say so."""
    settings, last, base = context.settings, context.last, context.base
    if base is None:
        return None
    found = improvement(
        last.totals,
        base,
        [entry.id for entry in last.population.policies if not entry.is_anchor and entry.id != base],
        anchors=last.analysis.anchors,
        num_draws=settings.solve.num_draws,
        seed=derive_seed(settings.seed, "progress", last.iteration),
    )
    if found is None:
        return None
    return Progress(
        best=found.best,
        base=found.base,
        elo=Estimate(value=found.elo.value, low=found.elo.low, high=found.elo.high),
        standard_error=found.elo.standard_error,
    )


def _tabled(context: Context) -> Sequence[PolicyId]:
    """Return the policies with a row in the payoff table, by rating: all, or those of a large population that matter.

    Those that the findings name come first, then anchors, the newest, the support and the highest rated, up to
    ``MOST_LISTED``.
    """
    everyone = context.by_rating
    if large.lists_all(len(everyone)):
        return everyone
    most = large.MOST_LISTED // 4
    when = {entry.id: entry.iteration or 0 for entry in context.last.population.policies}
    latest = [policy for policy in everyone if when[policy] == max(when.values())]
    base = [] if context.base is None else [context.base]
    named = [*base, *(_newest_and_root(context) or ())]
    wanted = dict.fromkeys([*named, *context.anchors[:most], *latest[:most], *context.last.analysis.support, *everyone])
    kept = set(list(wanted)[: large.MOST_LISTED])
    return [policy for policy in everyone if policy in kept]


def _payoff_matrix(context: Context, ordered: SampledCounts, matrix: SampledCounts) -> PayoffMatrix:
    evaluate, size = context.settings.evaluate, range(len(ordered.policies))
    may_retire = context.settings.population.retire_after_iterations
    is_partial = bool(evaluate.adaptive_battles or evaluate.num_opponents or may_retire)
    low, high = cell_intervals(ordered.tally)
    effective = ordered.tally.effective_games()

    def cell(i: int, j: int) -> Cell | None:
        games = ordered.games[i][j]
        if not games:
            return None
        wins, draws, losses = ordered.wins[i][j], ordered.draws[i][j], ordered.wins[j][i]
        rate = Estimate(value=(wins + draws / 2) / games, low=float(low[i, j]), high=float(high[i, j]))
        return Cell(wins=wins, draws=draws, losses=losses, rate=rate, effective_battles=float(effective[i, j]))

    num_policies, coverage = len(matrix.policies), context.last.analysis.coverage
    imputed, num_imputed = context.last.analysis.imputed_cells, None
    if not large.lists_all(num_policies):
        is_imputed = context.settings.solve.unplayed != "block"
        num_imputed = (coverage.num_cells - coverage.num_played) * is_imputed
        imputed = tuple(unplayed_cells(ordered.policies, ordered.games)) if is_imputed else ()
    return PayoffMatrix(
        policies=ordered.policies,
        cells=tuple(tuple(cell(i, j) for j in size) for i in size),
        exact=None,
        imputed=imputed,
        battles=int(matrix.battles_by_cell().sum()) // 2,
        full_table_battles=full_table_battles(num_policies, evaluate) if is_partial else None,
        num_omitted=num_policies - len(ordered.policies),
        num_imputed=num_imputed,
    )


def sampled_embedding(analysis: MetaGameAnalysis, ordered: SampledCounts) -> Embedding | None:
    """Return the disc of what ratings do not predict; None where sampling noise alone explains it."""
    order = ordered.policies
    if len(analysis.ratings) > MAX_PICTURED_POLICIES or analysis.intransitivity <= analysis.intransitivity_by_chance:
        return None
    elo = np.array([analysis.ratings[policy].elo for policy in order])
    return embedding(order, Payoffs.of_counts(order, ordered.tally, elo, analysis.num_draws))


_KINDS: Mapping[Evidence, Callable[..., Parts]] = {Evidence.COUNTS: sampled_parts, Evidence.EXACT: exact_parts}


def parts(context: Context) -> Parts:
    """Return the parts of the newest iteration's evidence."""
    matrix = context.last.matrix
    return _KINDS[matrix.evidence](context, matrix)
