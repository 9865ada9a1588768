"""What a report is made of, read through the manifests of every iteration so far."""

from dataclasses import dataclass

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import COLLECT_RESULT, TRAINING_RESULT, CollectResult, TrainingResult
from nashdex.core.settings import RunSettings
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.metagame.analysis import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.gate import GATE_RESULT, GateResult
from nashdex.metagame.ledger import LEDGER, InteractionMatrix, ShardLedger
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_published, read_written
from nashdex.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One shard of evaluate."""

    manifest: Manifest
    ledger: ShardLedger


@dataclass(frozen=True, slots=True)
class IterationSources:
    """Everything that one finished iteration left for the report."""

    iteration: int
    plan: IterationPlan
    collected: tuple[CollectResult, ...]
    trained: tuple[TrainingResult, ...]
    gates: tuple[GateResult, ...]
    """One for each trained policy, in their order; empty in a run without a gate."""
    evaluated: tuple[Evaluated, ...]
    population: Population
    matrix: InteractionMatrix
    meta_strategy: MetaStrategy
    analysis: MetaGameAnalysis
    manifests: tuple[Manifest, ...]
    """Of every shard of every step before the report."""

    @property
    def seconds(self) -> float:
        """Wall time, each step counted by its slowest shard."""
        slowest: dict[StepName, float] = {}
        for manifest in self.manifests:
            slowest[manifest.step] = max(manifest.seconds, slowest.get(manifest.step, 0.0))
        return sum(slowest.values())


def read_iteration(store: ObjectStore, settings: RunSettings, iteration: int) -> IterationSources:
    """Read one iteration.

    Raises:
        DataError: a step is not done, or something it wrote is missing or altered.
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
    manifests = {
        step: [read_manifest(store, iteration, step, shard) for shard in range(number)]
        for step, number in shards.items()
    }

    (solved,) = manifests[StepName.SOLVE]
    return IterationSources(
        iteration=iteration,
        plan=read_published(store, iteration, keys.PLAN, IterationPlan),
        collected=tuple(read_written(store, m, COLLECT_RESULT, CollectResult) for m in manifests[StepName.COLLECT]),
        trained=tuple(read_written(store, m, TRAINING_RESULT, TrainingResult) for m in manifests[StepName.TRAIN]),
        gates=tuple(read_written(store, m, GATE_RESULT, GateResult) for m in manifests[StepName.GATE]),
        evaluated=tuple(
            Evaluated(m, read_written(store, m, LEDGER, ShardLedger)) for m in manifests[StepName.EVALUATE]
        ),
        population=read_written(store, solved, keys.POPULATION, Population),
        matrix=read_written(store, solved, keys.INTERACTION_MATRIX, InteractionMatrix),
        meta_strategy=read_written(store, solved, keys.META_STRATEGY, MetaStrategy),
        analysis=read_written(store, solved, keys.META_GAME_ANALYSIS, MetaGameAnalysis),
        manifests=tuple(manifest for step in manifests.values() for manifest in step),
    )
