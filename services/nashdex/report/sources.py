"""The documents behind a report, read through the manifests of every iteration so far."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.manifest import Manifest
from nashdex.core.results import COLLECT_RESULT, TRAINING_RESULT, CollectResult, TrainingResult
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.ledger import LEDGER, ShardLedger, counted, decode
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.totals import BattleTotals
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult
from nashdex.oracles.registry import needs_actors
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import find_manifest, newest_manifest, read_manifest
from nashdex.store.documents import read_decoded, read_written
from nashdex.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class IterationManifests:
    """The manifests of one finished iteration: every shard of every step before the report, and the report's."""

    iteration: int
    by_step: Mapping[StepName, tuple[Manifest, ...]]
    report: Manifest | None = None
    """None while it is not done. What a report says follows from the other steps, so only costs include it."""

    @property
    def all(self) -> tuple[Manifest, ...]:
        """All manifests before the report, in the order of the steps."""
        return tuple(manifest for step in self.by_step.values() for manifest in step)

    @property
    def digest(self) -> str:
        """Hex digits that change if any shard is run again, because an attempt writes its objects once."""
        attempts = "".join(f"{manifest.step} {manifest.shard} {manifest.attempt}\n" for manifest in self.all)
        return hashlib.sha256(attempts.encode()).hexdigest()[:16]

    @property
    def seconds(self) -> float:
        """Wall time: the slowest shard of each step, summed over the steps. Actors run beside the train step."""
        return sum(
            max(manifest.seconds for manifest in shards)
            for step, shards in self.by_step.items()
            if shards and step is not StepName.ACT
        )


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One shard of evaluate."""

    manifest: Manifest
    ledger: ShardLedger


@dataclass(frozen=True, slots=True)
class IterationSources:
    """The documents of one finished iteration."""

    manifests: IterationManifests
    plan: IterationPlan
    collected: tuple[CollectResult, ...]
    trained: tuple[TrainingResult, ...]
    gates: tuple[GateResult, ...]
    """One for each trained policy, in their order; empty in a run without a gate."""
    evaluated: tuple[Evaluated, ...]
    population: Population
    matrix: InteractionMatrix
    totals: BattleTotals
    meta_strategy: MetaStrategy
    analysis: MetaGameAnalysis

    @property
    def iteration(self) -> int:
        """Its number."""
        return self.manifests.iteration


def read_manifests(store: ObjectStore, settings: RunSettings, iteration: int) -> IterationManifests:
    """Read the manifests of one iteration. Only actors that are done are read: nothing waits for a late one.

    Raises:
        DataError: a step is not done.
        StoppedError: the process was asked to stop.
    """
    check_stop()
    shards = {
        StepName.PLAN: 1,
        StepName.COLLECT: settings.collect.shards,
        StepName.TRAIN: settings.train.seeds,
        StepName.GATE: settings.num_gates,
        StepName.EVALUATE: settings.evaluate.shards,
        StepName.SOLVE: 1,
    }
    by_step = {
        step: tuple(read_manifest(store, iteration, step, shard) for shard in range(number))
        for step, number in shards.items()
    }
    by_step[StepName.ACT] = _actors(store, iteration) if needs_actors(settings) else ()
    return IterationManifests(
        iteration,
        {step: by_step[step] for step in StepName if step in by_step},
        find_manifest(store, iteration, StepName.REPORT, 0),
    )


def _actors(store: ObjectStore, iteration: int) -> tuple[Manifest, ...]:
    """Return the manifests of the actors that are done: more than the settings name may have joined."""
    shards = store.at(keys.step_prefix(iteration, StepName.ACT)).folders()
    found = (find_manifest(store, iteration, StepName.ACT, int(shard)) for shard in shards if shard.isdecimal())
    return tuple(manifest for manifest in found if manifest is not None)


def read_ledgers(store: ObjectStore, manifests: IterationManifests) -> tuple[Evaluated, ...]:
    """Read what counts of the ledgers of an iteration's tournament.

    Raises:
        DataError: a ledger is missing or altered.
        StoppedError: the process was asked to stop.
    """
    check_stop()
    written = manifests.by_step[StepName.EVALUATE]
    ledgers = counted([read_decoded(store, manifest, LEDGER, decode) for manifest in written])
    return tuple(map(Evaluated, written, ledgers))


def read_iteration(store: ObjectStore, manifests: IterationManifests) -> IterationSources:
    """Read the documents of one iteration.

    Raises:
        DataError: a document is missing or altered.
        StoppedError: the process was asked to stop.
    """
    steps = manifests.by_step
    (planned,), (solved,) = steps[StepName.PLAN], steps[StepName.SOLVE]
    return IterationSources(
        manifests=manifests,
        plan=read_written(store, planned, keys.PLAN, IterationPlan),
        collected=tuple(read_written(store, m, COLLECT_RESULT, CollectResult) for m in steps[StepName.COLLECT]),
        trained=tuple(read_written(store, m, TRAINING_RESULT, TrainingResult) for m in steps[StepName.TRAIN]),
        gates=tuple(read_written(store, m, GATE_RESULT, GateResult) for m in steps[StepName.GATE]),
        population=read_written(store, solved, keys.POPULATION, Population),
        matrix=read_written(store, solved, keys.INTERACTION_MATRIX, InteractionMatrix),
        totals=read_written(store, solved, keys.BATTLE_TOTALS, BattleTotals),
        meta_strategy=read_written(store, solved, keys.META_STRATEGY, MetaStrategy),
        analysis=read_written(store, solved, keys.META_GAME_ANALYSIS, MetaGameAnalysis),
        evaluated=read_ledgers(store, manifests),
    )


def newest_report(store: ObjectStore) -> Manifest:
    """Return the manifest of the newest report.

    Raises:
        DataError: the run has no report yet.
    """
    newest = newest_manifest(store, StepName.REPORT)
    if newest is None:
        raise DataError(
            f"{store.uri} has no report yet: its first iteration is not finished. "
            f"Continue it with 'nashdex run', or run 'nashdex step report --run {store.uri} --iteration 0'"
        )
    return newest
