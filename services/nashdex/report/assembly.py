"""From what the steps left to ``report.json``: every number is computed here or before, none on the page."""

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from nashdex.core.ids import PolicyId, RunId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.embedding import first_disc, transitive_part
from nashdex.metagame.analysis.exploitability import Estimator
from nashdex.metagame.analysis.progress import improvement, mixture_scores
from nashdex.metagame.evidence.estimates import EVEN, Floats
from nashdex.metagame.evidence.ledger import BattleRecord, InteractionMatrix
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.ratings.ladder import ladder_ratings
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH
from nashdex.metagame.tournament.schedule import full_table_battles
from nashdex.report import findings
from nashdex.report.document import (
    MAX_PICTURED_POLICIES,
    AnchorPayoff,
    AnchorScore,
    Cell,
    Embedding,
    EmbeddingPoint,
    Exploitability,
    Interval,
    Intransitivity,
    IterationRow,
    PayoffMatrix,
    PolicyRow,
    Progress,
    Rating,
    Replay,
    Report,
    policy_names,
)
from nashdex.report.rows import shares, wilson
from nashdex.report.sources import IterationSources
from nashdex.settings.run import RunSettings

_SHORTEST_ID = 6
_FEWEST_PICTURED = 3
"""Policies that a cycle takes."""
_PACKAGES = ("numpy", "scipy", "pydantic", "torch", "poke-env", "open-spiel")


def assemble(
    run: RunId,
    settings: RunSettings,
    last: IterationSources,
    *,
    rows: Sequence[IterationRow],
    replays: Sequence[Replay],
    records: Sequence[BattleRecord],
) -> Report:
    """Return the report of a run.

    Args:
        run: its id.
        settings: its settings.
        last: the newest iteration.
        rows: every iteration so far, the newest included.
        replays: of every iteration.
        records: battles of every iteration's tournament; none where payoffs are exact.

    Raises:
        DataError: counts and ledgers do not fit each other.
    """
    population, analysis = last.population, last.analysis
    base = next((entry.id for entry in population.policies if entry.kind == "network"), None)
    anchors = [entry.id for entry in population.policies if entry.kind == "scripted" or entry.id == base]
    by_rating = sorted(population.ids, key=lambda policy: (-analysis.ratings[policy].elo, policy))
    policies = _policy_rows(last, by_rating, anchors, records)
    names = policy_names(policies)
    scores = _anchor_scores(settings, last, anchors)
    payoffs = _anchor_payoffs(last, anchors)
    progress = _progress(settings, last, base, records)
    unjudged = findings.unjudged_finding(rows[-1])
    return Report(
        run=run,
        format=settings.format,
        mode=settings.mode,
        seed=settings.seed,
        iteration=last.iteration,
        planned_iterations=settings.iterations,
        versions=_versions(rows),
        settings=settings.model_dump(mode="json"),
        anchor_scores=scores,
        anchor_payoffs=payoffs,
        progress=progress,
        findings=(
            findings.mixture_finding(
                rows[-1].meta_strategy,
                names,
                trained=[entry.id for entry in population.policies if entry.kind != "scripted"],
                final=last.iteration + 1 == settings.iterations,
            ),
            *(
                (
                    findings.exact_finding(_estimates(rows, "exact")),
                    unjudged or findings.exact_best_response_finding(_newest_gap(rows), names),
                    findings.anchor_payoffs_finding(payoffs, names),
                )
                if last.matrix.payoffs is not None
                else (
                    findings.anchors_finding(scores, names),
                    unjudged or findings.best_response_finding(_newest_gap(rows), names),
                    findings.progress_finding(progress, names),
                )
            ),
        ),
        warnings=_warnings(last, names),
        policies=policies,
        payoffs=_payoff_matrix(settings, last, by_rating),
        embedding=_embedding(last, by_rating),
        intransitivity=Intransitivity(value=analysis.intransitivity, by_chance=analysis.intransitivity_by_chance),
        iterations=tuple(rows),
        replays=tuple(replays),
    )


def _anchor_scores(
    settings: RunSettings, last: IterationSources, anchors: Sequence[PolicyId]
) -> tuple[AnchorScore, ...]:
    if last.matrix.payoffs is not None:
        return ()
    scores = mixture_scores(
        last.matrix,
        last.meta_strategy.meta_strategy,
        anchors,
        num_draws=settings.solve.num_draws,
        seed=derive_seed(settings.seed, "report", last.iteration),
    )
    return tuple(
        AnchorScore(
            opponent=score.opponent,
            rate=Interval(value=score.value, low=score.low, high=score.high),
            games=score.games,
        )
        for score in scores
    )


def _anchor_payoffs(last: IterationSources, anchors: Sequence[PolicyId]) -> tuple[AnchorPayoff, ...]:
    if last.matrix.payoffs is None:
        return ()
    strategy = last.meta_strategy.meta_strategy
    mixed = np.array([strategy[policy] for policy in last.matrix.policies]) @ _exact(last.matrix)
    return tuple(
        AnchorPayoff(opponent=anchor, payoff=float(mixed[last.matrix.policies.index(anchor)]))
        for anchor in anchors
        if strategy[anchor] < 1.0
    )


def _progress(
    settings: RunSettings, last: IterationSources, base: PolicyId | None, records: Sequence[BattleRecord]
) -> Progress | None:
    if base is None or last.matrix.payoffs is not None:
        return None
    found = improvement(
        last.population.ids,
        base,
        [entry.id for entry in last.population.policies if entry.kind != "scripted" and entry.id != base],
        records,
        anchors=last.analysis.anchors,
        num_draws=settings.solve.num_draws,
        seed=derive_seed(settings.seed, "progress", last.iteration),
    )
    if found is None:
        return None
    return Progress(
        best=found.best,
        base=found.base,
        elo=Interval(value=found.elo.value, low=found.elo.low, high=found.elo.high),
        standard_error=found.elo.standard_error,
    )


def _estimates(rows: Sequence[IterationRow], estimator: Estimator) -> list[Exploitability]:
    return [entry for row in rows for entry in row.exploitability if entry.estimator == estimator]


def _newest_gap(rows: Sequence[IterationRow]) -> Exploitability | None:
    return next(iter(_estimates(rows[-1:], "best_response_gap")), None)


def _policy_rows(
    last: IterationSources,
    by_rating: Sequence[PolicyId],
    anchors: Sequence[PolicyId],
    records: Sequence[BattleRecord],
) -> tuple[PolicyRow, ...]:
    entries = {entry.id: entry for entry in last.population.policies}
    probabilities = {share.policy: share.probability for share in shares(last)}
    length = _short_id_length(last.population)
    ladder = ladder_ratings(last.population.ids, records) if records else {}
    rows = []
    for policy in by_rating:
        entry, rating = entries[policy], last.analysis.ratings[policy]
        rows.append(
            PolicyRow(
                id=policy,
                short_id=policy if entry.kind == "scripted" else policy[:length],
                name=entry.name,
                kind=entry.kind,
                iteration=entry.iteration,
                parent=entry.parent,
                anchor=policy in anchors,
                probability=probabilities[policy],
                rating=Rating(
                    elo=Interval(value=rating.elo, low=rating.low, high=rating.high),
                    standard_error=rating.standard_error,
                ),
                ladder=ladder.get(policy),
                games=rating.games,
            )
        )
    return tuple(rows)


def _short_id_length(population: Population) -> int:
    ids = [entry.id for entry in population.policies if entry.kind != "scripted"]
    longest = max((len(policy) for policy in ids), default=_SHORTEST_ID)
    return next(
        (n for n in range(_SHORTEST_ID, longest) if len({policy[:n] for policy in ids}) == len(ids)),
        longest,
    )


def _exact(matrix: InteractionMatrix) -> Floats:
    return np.array(matrix.payoffs, dtype=np.float64).reshape(len(matrix.policies), len(matrix.policies))


def _payoff_matrix(settings: RunSettings, last: IterationSources, order: Sequence[PolicyId]) -> PayoffMatrix:
    ordered, size = last.matrix.restricted_to(order), range(len(order))
    exact = ordered.payoffs is not None
    return PayoffMatrix(
        policies=tuple(order),
        cells=None if exact else tuple(tuple(_cell(ordered, i, j) for j in size) for i in size),
        exact=ordered.payoffs,
        imputed=last.analysis.imputed_cells,
        battles=sum(map(sum, ordered.games)) // 2,
        full_table_battles=None
        if exact or settings.evaluate.schedule == "uniform"
        else full_table_battles(len(order), settings.evaluate),
    )


def _cell(matrix: InteractionMatrix, i: int, j: int) -> Cell | None:
    if not matrix.games[i][j]:
        return None
    wins, draws, losses = matrix.wins[i][j], matrix.draws[i][j], matrix.wins[j][i]
    return Cell(wins=wins, draws=draws, losses=losses, rate=wilson(wins, draws, losses))


def _embedding(last: IterationSources, order: Sequence[PolicyId]) -> Embedding | None:
    """Return the picture of what ratings cannot say, where it is more than chance makes of battles."""
    analysis, matrix = last.analysis, last.matrix.restricted_to(order)
    if not _FEWEST_PICTURED <= len(order) <= MAX_PICTURED_POLICIES:
        return None
    if matrix.payoffs is not None:
        payoffs = _exact(matrix)
        transitive = transitive_part(payoffs)
    else:
        if analysis.intransitivity <= analysis.intransitivity_by_chance:
            return None
        transitive = expected_scores_of(np.array([analysis.ratings[p].elo for p in order]) / ELO_PER_STRENGTH) - EVEN
        wins, draws, games = matrix.arrays()
        # A pair that has not met misses no prediction.
        payoffs = np.where(games > 0, (wins + draws / 2) / np.maximum(games, 1) - EVEN, transitive)
    disc = first_disc(order, payoffs, transitive)
    if disc is None:
        return None
    return Embedding(
        points=tuple(
            EmbeddingPoint(policy=policy, x=x, y=y)
            for policy, (x, y) in zip(order, disc.positions.tolist(), strict=True)
        ),
        share=disc.share,
    )


def _warnings(last: IterationSources, names: Mapping[PolicyId, str]) -> tuple[str, ...]:
    """Return what a reader must know before believing the numbers, with policies by name."""
    warnings = list(last.analysis.warnings)
    widths = last.analysis.interval_widths
    if widths.largest_cell is not None and widths.largest > findings.ROUGH_WIDTH:
        one, other = widths.largest_cell
        warnings.append(
            f"payoffs are rough: the 95 % interval of {one!r} against {other!r} is {widths.largest:.2f} wide; more "
            "battles a pair (evaluate.battles_per_pair) narrow it"
        )
    if not last.meta_strategy.unique:
        warnings.append("the payoffs have many equilibria; the mixture is the one of largest entropy")
    rollbacks = sum(result.rollbacks for result in last.trained)
    if rollbacks:
        warnings.append(f"training was unstable: {rollbacks} times a checkpoint was restored in the last iteration")
    for policy, name in names.items():
        warnings = [warning.replace(repr(policy), name) for warning in warnings]
    return tuple(findings.sentence(warning) for warning in warnings)


def _versions(rows: Sequence[IterationRow]) -> dict[str, str]:
    """Return the versions that the run was made with, all where it went on under another, and those of this process."""
    made: dict[str, set[str]] = {}
    for row in rows:
        for name, numbers in row.versions.items():
            made.setdefault(name, set()).update(numbers.split(", "))
    found = {name: ", ".join(sorted(numbers)) for name, numbers in made.items()}
    found["python"] = platform.python_version()
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
