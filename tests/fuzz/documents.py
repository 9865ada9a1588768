"""Valid documents of runs, made by the project's own steps: what mutation begins with."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from functools import cache

import lz4.frame

from nashdex.core import keys
from nashdex.core.manifest import Manifest, RunManifest
from nashdex.core.results import COLLECT_RESULT, TRAINING_RESULT, CollectResult, TrainingResult
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.ledger import LEDGER, decode
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.totals import BattleTotals
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult
from nashdex.policies.document import PolicyDocument
from nashdex.report.document import Report
from support.made_runs import ROCK_PAPER_SCISSORS, finish_iteration, made_settings, make_iteration, make_tabular_run
from support.memory_store import MemoryStore

MOST_SEED_BYTES = 64 << 10
SEEDS_OF_EACH = 3

Reader = Callable[[bytes, str], object]


def framed_ledger(data: bytes, source: str) -> object:
    """Read ``data`` as the content of a ledger's frame, whose checksums hide it from mutations of the whole."""
    return [*decode(lz4.frame.compress(data), source).battles]


def _tally(data: bytes, source: str) -> object:
    return BattleTotals.from_json(data, source).tally()


READERS: Mapping[str, tuple[str, Reader]] = {
    "plan": (f"*/{keys.PLAN}", IterationPlan.from_json),
    "population": (f"*/{keys.POPULATION}", Population.from_json),
    "meta-strategy": (f"*/{keys.META_STRATEGY}", MetaStrategy.from_json),
    "analysis": (f"*/{keys.META_GAME_ANALYSIS}", MetaGameAnalysis.from_json),
    "interaction-matrix": (f"*/{keys.INTERACTION_MATRIX}", InteractionMatrix.from_json),
    "battle-totals": (f"*/{keys.BATTLE_TOTALS}", _tally),
    "report": (f"*/{keys.REPORT}", Report.from_json),
    "matrix": (keys.MATRIX, MatrixDocument.from_json),
    "collect-result": (f"*/collect/*/{COLLECT_RESULT}", CollectResult.from_json),
    "training-result": (f"*/train/*/{TRAINING_RESULT}", TrainingResult.from_json),
    "gate-result": (f"*/gate/*/{GATE_RESULT}", GateResult.from_json),
    "ledger": (f"*/{LEDGER}", decode),
    "manifest": ("iterations/*/manifest.json", Manifest.from_json),
    "run-manifest": (keys.RUN_MANIFEST, RunManifest.from_json),
    "policy": ("policies/*/policy.json", PolicyDocument.from_json),
}
"""The reader of each kind of object, and the pattern of its keys."""


@cache
def tabular_run() -> tuple[MemoryStore, Callable[[MemoryStore], None]]:
    """Return a run of two iterations of a matrix game, and a function that does the steps that a store lacks."""
    store = MemoryStore()
    settings = make_tabular_run(store, iterations=2, payoffs=ROCK_PAPER_SCISSORS)
    return store, lambda store: finish_iteration(store, settings, 1)


@cache
def sampled_run() -> MemoryStore:
    """Return a run of two iterations with battles, up to the second solve step."""
    store, settings = MemoryStore(), made_settings(iterations=2, gated=True)
    for iteration in range(2):
        make_iteration(store, settings, iteration)
    return store


@cache
def seeds() -> dict[str, list[bytes]]:
    """Return valid documents by the name of their reader."""
    found = {}
    for name, (pattern, _) in READERS.items():
        objects = (store.objects for store in (tabular_run()[0], sampled_run()))
        fitting = [data for each in objects for key, data in sorted(each.items()) if fnmatch(key, pattern)]
        found[name] = [data for data in fitting if len(data) < MOST_SEED_BYTES][
            :: max(1, len(fitting) // SEEDS_OF_EACH)
        ]
    return found
