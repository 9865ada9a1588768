"""From what the steps left to ``report.json``: every number is computed here or before, none on the page."""

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from nashdex.core.ids import PolicyId, RunId
from nashdex.core.results import CollectResult, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.settings import RunSettings
from nashdex.metagame.exploitability import ExploitabilityEstimate
from nashdex.metagame.ledger import InteractionMatrix
from nashdex.metagame.payoffs import wilson_interval
from nashdex.metagame.population import Population
from nashdex.metagame.progress import improvement, mixture_scores
from nashdex.solver import report_findings as findings
from nashdex.solver.report_document import (
    AnchorScore,
    Cell,
    Collection,
    Curve,
    Exploitability,
    Interval,
    Intransitivity,
    IterationRow,
    OpponentScore,
    PayoffMatrix,
    PolicyRow,
    Probability,
    Progress,
    Rating,
    Replay,
    Report,
    Throughput,
    Training,
    policy_names,
)
from nashdex.solver.report_sources import IterationSources

CURVE_POINTS = 120
"""At most so many points of a learning curve: a chart is about 300 pixels wide."""
_SHORTEST_ID = 6
_PACKAGES = ("numpy", "scipy", "pydantic", "torch", "poke-env")


def assemble(run: RunId, settings: RunSettings, iterations: Sequence[IterationSources]) -> Report:
    """Return the report of a run after the last of ``iterations``.

    Raises:
        DataError: counts and ledgers do not fit each other.
    """
    last = iterations[-1]
    population, analysis = last.population, last.analysis
    base = next((entry.id for entry in population.policies if entry.kind == "network"), None)
    anchors = [entry.id for entry in population.policies if entry.kind == "scripted" or entry.id == base]
    by_rating = sorted(population.ids, key=lambda policy: (-analysis.ratings[policy].elo, policy))
    policies = _policy_rows(last, by_rating, anchors)
    names = policy_names(policies)

    anchor_scores = tuple(
        AnchorScore(
            opponent=score.opponent,
            rate=Interval(value=score.value, low=score.low, high=score.high),
            games=score.games,
        )
        for score in mixture_scores(
            last.matrix,
            last.meta_strategy.meta_strategy,
            anchors,
            num_draws=settings.solve.num_draws,
            seed=derive_seed(settings.seed, "report", last.iteration),
        )
    )
    progress = _progress(settings, iterations, base)
    rows = tuple(_iteration_row(sources) for sources in iterations)
    return Report(
        run=run,
        format=settings.format,
        mode=settings.mode,
        seed=settings.seed,
        iteration=last.iteration,
        planned_iterations=settings.iterations,
        versions=_versions(iterations),
        settings=settings.model_dump(mode="json"),
        anchor_scores=anchor_scores,
        progress=progress,
        findings=(
            findings.mixture_finding(
                rows[-1].meta_strategy,
                names,
                trained=[entry.id for entry in population.policies if entry.kind == "network"],
                final=last.iteration + 1 == settings.iterations,
            ),
            findings.anchors_finding(anchor_scores, names),
            findings.best_response_finding(_gap_of(rows[-1]), names),
            findings.progress_finding(progress, names),
        ),
        warnings=_warnings(last, names),
        policies=policies,
        payoffs=_payoff_matrix(last.matrix, by_rating),
        intransitivity=Intransitivity(value=analysis.intransitivity, by_chance=analysis.intransitivity_by_chance),
        iterations=rows,
        replays=tuple(replay for sources in iterations for replay in _replays(sources)),
    )


def _progress(settings: RunSettings, iterations: Sequence[IterationSources], base: PolicyId | None) -> Progress | None:
    last = iterations[-1]
    trained = [entry.id for entry in last.population.policies if entry.kind == "network" and entry.id != base]
    if base is None:
        return None
    found = improvement(
        last.population.ids,
        base,
        trained,
        [record for sources in iterations for evaluated in sources.evaluated for record in evaluated.ledger.battles],
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


def _iteration_row(sources: IterationSources) -> IterationRow:
    strategy, analysis = sources.meta_strategy, sources.analysis
    known = set(sources.plan.population.ids)
    ledgers = [evaluated.ledger for evaluated in sources.evaluated]
    estimates = analysis.exploitability
    return IterationRow(
        iteration=sources.iteration,
        oracle=sources.plan.oracle,
        new_policies=tuple(policy for policy in sources.population.ids if policy not in known),
        meta_solver=strategy.meta_solver,
        meta_strategy=_shares(sources),
        entropy=-sum(p * math.log(p) for p in strategy.meta_strategy.values() if p > 0) or 0.0,
        support=analysis.support,
        support_stability=analysis.support_stability,
        exploitability=tuple(
            _exploitability(estimate)
            for estimate in (
                estimates.best_response_gap,
                estimates.restricted,
                estimates.exact,
                estimates.legacy_dominance_gap,
            )
            if estimate is not None
        ),
        collection=_collection(sources.collected),
        training=tuple(_training(result) for result in sources.trained),
        evaluation=_throughput(
            battles=sum(len(ledger.battles) for ledger in ledgers),
            decisions=sum(ledger.decisions for ledger in ledgers),
            seconds=max(ledger.seconds for ledger in ledgers),
            cpu_seconds=sum(ledger.cpu_seconds for ledger in ledgers),
            failures=[ledger.failures for ledger in ledgers],
            rejected_choices=sum(ledger.rejected_choices for ledger in ledgers),
        ),
        seconds=sources.seconds,
    )


def _shares(sources: IterationSources) -> tuple[Probability, ...]:
    strategy = sources.meta_strategy
    return tuple(
        Probability(
            policy=policy,
            probability=Interval(
                value=strategy.meta_strategy[policy],
                low=strategy.intervals[policy].low,
                high=strategy.intervals[policy].high,
            ),
        )
        for policy in sources.population.ids
    )


def _exploitability(estimate: ExploitabilityEstimate) -> Exploitability:
    return Exploitability(
        estimator=estimate.estimator,
        gap=Interval(value=estimate.value, low=estimate.low, high=estimate.high),
        games=estimate.games,
        policy=estimate.policy,
    )


def _gap_of(row: IterationRow) -> Exploitability | None:
    return next((entry for entry in row.exploitability if entry.estimator == "best_response_gap"), None)


def _collection(collected: Sequence[CollectResult]) -> Collection:
    counts: dict[PolicyId, Counter[str]] = {}
    for result in collected:
        for opponent in result.opponents:
            counts.setdefault(opponent.opponent, Counter()).update(
                wins=opponent.wins, draws=opponent.draws, losses=opponent.losses
            )
    return Collection(
        learner=collected[0].learner,
        recorded_decisions=sum(result.recorded_decisions for result in collected),
        throughput=_throughput(
            battles=sum(result.battles for result in collected),
            decisions=sum(result.decisions for result in collected),
            seconds=max(result.seconds for result in collected),
            cpu_seconds=sum(result.cpu_seconds for result in collected),
            failures=[result.failures for result in collected],
            rejected_choices=sum(result.rejected_choices for result in collected),
        ),
        opponents=tuple(
            OpponentScore(
                opponent=opponent,
                wins=count["wins"],
                draws=count["draws"],
                losses=count["losses"],
                rate=_wilson(count["wins"], count["draws"], count["losses"]),
            )
            for opponent, count in sorted(counts.items())
        ),
    )


def _throughput(
    *,
    battles: int,
    decisions: int,
    seconds: float,
    cpu_seconds: float,
    failures: Iterable[Mapping[str, int]],
    rejected_choices: int,
) -> Throughput:
    causes: Counter[str] = Counter()
    for counted in failures:
        causes.update(counted)
    return Throughput(
        battles=battles,
        decisions=decisions,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        battles_per_second=battles / seconds if seconds else None,
        decisions_per_second=decisions / seconds if seconds else None,
        decisions_per_cpu_second=decisions / cpu_seconds if cpu_seconds else None,
        failures=dict(sorted(causes.items())),
        rejected_choices=rejected_choices,
    )


def _training(result: TrainingResult) -> Training:
    return Training(
        policy=result.policy,
        parent=result.parent,
        oracle=result.oracle,
        preset=result.preset,
        reference=result.reference,
        num_updates=result.num_updates,
        num_decisions=result.num_decisions,
        num_parameters=result.num_parameters,
        rollbacks=result.rollbacks,
        seconds=result.seconds,
        summary=result.summary,
        curves=tuple(_curves(result)),
    )


def _curves(result: TrainingResult) -> Iterable[Curve]:
    """Yield each measured value's curve. Some are measured at fewer updates than others."""
    for name in dict.fromkeys(name for point in result.curve for name in point.values):
        points = thinned([(point.update, point.values[name]) for point in result.curve if name in point.values])
        updates, values = zip(*points, strict=True)
        yield Curve(name=name, updates=updates, values=values)


def thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most ``CURVE_POINTS`` of the points, evenly spaced, the first and the last included."""
    if len(points) <= CURVE_POINTS:
        return list(points)
    return [points[round(i * (len(points) - 1) / (CURVE_POINTS - 1))] for i in range(CURVE_POINTS)]


def _policy_rows(
    last: IterationSources, by_rating: Sequence[PolicyId], anchors: Sequence[PolicyId]
) -> tuple[PolicyRow, ...]:
    entries = {entry.id: entry for entry in last.population.policies}
    shares = {share.policy: share.probability for share in _shares(last)}
    length = _short_id_length(last.population)
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
                probability=shares[policy],
                rating=Rating(
                    elo=Interval(value=rating.elo, low=rating.low, high=rating.high),
                    standard_error=rating.standard_error,
                ),
                games=rating.games,
            )
        )
    return tuple(rows)


def _short_id_length(population: Population) -> int:
    ids = [entry.id for entry in population.policies if entry.kind == "network"]
    longest = max((len(policy) for policy in ids), default=_SHORTEST_ID)
    return next(
        (n for n in range(_SHORTEST_ID, longest) if len({policy[:n] for policy in ids}) == len(ids)),
        longest,
    )


def _payoff_matrix(matrix: InteractionMatrix, order: Sequence[PolicyId]) -> PayoffMatrix:
    ordered = matrix.restricted_to(order)
    size = range(len(order))
    return PayoffMatrix(
        policies=tuple(order),
        cells=tuple(tuple(_cell(ordered, i, j) for j in size) for i in size),
    )


def _cell(matrix: InteractionMatrix, i: int, j: int) -> Cell | None:
    if not matrix.games[i][j]:
        return None
    wins, draws, losses = matrix.wins[i][j], matrix.draws[i][j], matrix.wins[j][i]
    return Cell(wins=wins, draws=draws, losses=losses, rate=_wilson(wins, draws, losses))


def _wilson(wins: int, draws: int, losses: int) -> Interval:
    score, games = wins + draws / 2, wins + draws + losses
    low, high = wilson_interval(score, games)
    return Interval(value=score / games, low=float(low), high=float(high))


def _replays(sources: IterationSources) -> Iterable[Replay]:
    for evaluated in sources.evaluated:
        records = {(record.policies, record.pair): record for record in evaluated.ledger.battles}
        for saved in evaluated.ledger.replays:
            record = records[saved.policies, saved.pair]
            described = evaluated.manifest.objects[saved.object]
            yield Replay(
                policies=saved.policies,
                winner=None if record.winner is None else record.policies[record.winner],
                turns=record.turns,
                iteration=sources.iteration,
                name=saved.object.removeprefix("replays/").removesuffix(".log"),
                key=described.key,
                shard=evaluated.manifest.shard,
                object=saved.object,
                size_bytes=described.size_bytes,
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


def _versions(iterations: Sequence[IterationSources]) -> dict[str, str]:
    """Return the versions that the run was made with, all where it went on under another, and those of this process."""
    made: dict[str, set[str]] = {}
    for sources in iterations:
        for manifest in sources.manifests:
            made.setdefault("nashdex", set()).add(manifest.nashdex_version)
        for result in sources.collected:
            for name, number in result.versions.items():
                made.setdefault(name, set()).add(number)
    found = {name: ", ".join(sorted(numbers)) for name, numbers in made.items()}
    found["python"] = platform.python_version()
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
