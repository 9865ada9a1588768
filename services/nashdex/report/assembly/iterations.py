"""The report's row of one iteration. It follows from the iteration's sources alone."""

import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from nashdex.core.ids import PolicyId
from nashdex.core.results import CollectResult, TrainedPolicy, TrainingResult
from nashdex.metagame.analysis.exploitability import Estimator, ExploitabilityEstimate
from nashdex.metagame.evidence.estimates import count_interval, wilson_interval
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.large import lists_all
from nashdex.metagame.evidence.ledger import ShardLedger
from nashdex.report.assembly.cost import step_uses
from nashdex.report.document import Collection, Curve, IterationRow, OpponentScore, Probability, Throughput, Training
from nashdex.report.sources import IterationSources

_PACKAGES = ("numpy", "scipy", "pydantic", "torch", "poke-env", "open-spiel")


def run_versions(rows: Sequence[IterationRow]) -> dict[str, str]:
    """Return the versions that made the run, and this process's own."""
    found = _merged(
        {name: number} for row in rows for name, numbers in row.versions.items() for number in numbers.split(", ")
    )
    return found | own_versions()


@cache
def own_versions() -> dict[str, str]:
    """Return this process's versions of Python and of the packages that its numbers depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _merged(versions: Iterable[Mapping[str, str]]) -> dict[str, str]:
    merged: dict[str, set[str]] = {}
    for found in versions:
        for name, number in found.items():
            merged.setdefault(name, set()).add(number)
    return {name: ", ".join(sorted(numbers)) for name, numbers in sorted(merged.items())}


CURVE_POINTS = 120
"""Most points of a learning curve: a chart is about 300 pixels wide."""


def iteration_row(sources: IterationSources) -> IterationRow:
    """Return the row of one iteration."""
    strategy, analysis = sources.meta_strategy, sources.analysis
    known = set(sources.plan.population.ids)
    ledgers = [evaluated.ledger for evaluated in sources.evaluated]
    estimates = analysis.exploitability
    return IterationRow(
        iteration=sources.iteration,
        sources=sources.manifests.digest,
        versions=_merged(
            [
                *({"nashdex": manifest.nashdex_version} for manifest in sources.manifests.all),
                *(result.versions for result in sources.collected),
            ]
        ),
        oracle=sources.plan.oracle,
        rule=sources.plan.rule,
        role=sources.plan.role,
        reset=sources.plan.reset,
        gates=sources.gates,
        new_policies=tuple(policy for policy in sources.population.ids if policy not in known),
        meta_solver=strategy.meta_solver,
        meta_strategy=_played(shares(sources)),
        entropy=strategy.entropy,
        support=analysis.support,
        support_stability=analysis.support_stability,
        exploitability=tuple(
            estimate
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
        evaluation=_throughput(ledgers, battles=sum(len(ledger.battles) for ledger in ledgers)),
        steps=step_uses(sources.manifests),
        seconds=sources.manifests.seconds,
    )


def shares(sources: IterationSources) -> tuple[Probability, ...]:
    """Return each policy's probability in the iteration's mixture, oldest policy first."""
    strategy = sources.meta_strategy
    return tuple(
        Probability(
            policy=policy,
            probability=Estimate(
                value=strategy.meta_strategy[policy],
                low=strategy.intervals[policy].low,
                high=strategy.intervals[policy].high,
            ),
        )
        for policy in sources.population.ids
    )


def _played(all_shares: tuple[Probability, ...]) -> tuple[Probability, ...]:
    """Return the shares that an iteration's row keeps: of a large population, those that may be above 0."""
    if lists_all(len(all_shares)):
        return all_shares
    return tuple(share for share in all_shares if share.probability.high > 0)


def wilson(wins: int, draws: int, losses: int) -> Estimate:
    """Return a score, (wins + draws / 2) / games, with its Wilson interval."""
    score, games = wins + draws / 2, wins + draws + losses
    low, high = wilson_interval(score, games)
    return Estimate(value=score / games, low=float(low), high=float(high))


def thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most ``CURVE_POINTS`` of the points, evenly spaced, the first and the last included."""
    if len(points) <= CURVE_POINTS:
        return list(points)
    return [points[round(i * (len(points) - 1) / (CURVE_POINTS - 1))] for i in range(CURVE_POINTS)]


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
        throughput=_throughput(collected, battles=sum(result.battles for result in collected)),
        opponents=tuple(
            OpponentScore(
                opponent=opponent,
                wins=count["wins"],
                draws=count["draws"],
                losses=count["losses"],
                rate=wilson(count["wins"], count["draws"], count["losses"]),
            )
            for opponent, count in sorted(counts.items())
            if count.total()
        ),
    )


def _throughput(shards: Sequence[CollectResult] | Sequence[ShardLedger], *, battles: int) -> Throughput:
    causes: Counter[str] = Counter()
    for shard in shards:
        causes.update(shard.failures)
    low, high = count_interval(battles)
    decisions = sum(shard.decisions for shard in shards)
    seconds, cpu_seconds = max(shard.seconds for shard in shards), sum(shard.cpu_seconds for shard in shards)
    return Throughput(
        battles=battles,
        decisions=decisions,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        battles_per_second=battles / seconds if seconds else None,
        battles_per_second_interval=Interval(low=low / seconds, high=high / seconds) if seconds else None,
        decisions_per_second=decisions / seconds if seconds else None,
        decisions_per_cpu_second=decisions / cpu_seconds if cpu_seconds else None,
        failures=dict(sorted(causes.items())),
        rejected_choices=sum(shard.rejected_choices for shard in shards),
    )


def _training(result: TrainingResult) -> Training:
    described = {name: getattr(result, name) for name in TrainedPolicy.model_fields}
    return Training(**described, curves=tuple(_curves(result)))


def _curves(result: TrainingResult) -> Iterable[Curve]:
    """Yield the curve of each measured value. Some values are measured less often than others."""
    for name in dict.fromkeys(name for point in result.curve for name in point.values):
        points = thinned([(point.update, point.values[name]) for point in result.curve if name in point.values])
        updates, values = zip(*points, strict=True)
        yield Curve(name=name, updates=updates, values=tuple(float(f"{value:.6g}") for value in values))


def estimates_by(rows: Sequence[IterationRow], estimator: Estimator) -> list[ExploitabilityEstimate]:
    """Return the values of ``estimator`` for each iteration that it applies to."""
    return [entry for row in rows for entry in row.exploitability if entry.estimator == estimator]


def newest_gap(rows: Sequence[IterationRow]) -> ExploitabilityEstimate | None:
    """Return the best-response gap of the newest iteration."""
    return next(iter(estimates_by(rows[-1:], "best_response_gap")), None)
