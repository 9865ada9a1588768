"""Gate and adaptive schedule over whole made runs: plan and solve are the project's own steps."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.evaluator.step import missing_evidence
from nashdex.games.registry import game_of_run
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult
from nashdex.metagame.tournament.schedule import full_table_battles
from nashdex.planning import step as plan_step
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.documents import read_from_shards, read_published
from nashdex.store.protocol import ObjectStore
from support.made_runs import made_settings, make_iteration, trained_policy

BATTLES_PER_PAIR, FIRST, ADAPTIVE = 60, 10, 40


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def _adaptive(iterations: int = 3) -> RunSettings:
    more = {"first_battles": FIRST, "adaptive_battles": ADAPTIVE}
    return made_settings(iterations=iterations, battles_per_pair=BATTLES_PER_PAIR, evaluate=more)


def _games(store: ObjectStore, iteration: int) -> SampledCounts:
    return read_published(store, iteration, keys.INTERACTION_MATRIX, SampledCounts)


def test_adaptive_plays_first_battles_of_new_cells_and_its_budget_where_it_decides(store: ObjectStore) -> None:
    settings = _adaptive()
    for iteration in range(3):
        make_iteration(store, settings, iteration)
    played = [_games(store, iteration).battles_by_cell().sum() // 2 for iteration in range(3)]
    assert played[0] == 6 * FIRST, "nothing is known yet that a battle could be better spent on"
    for iteration in range(1, 3):
        further = read_published(store, iteration, keys.PLAN, IterationPlan).further
        assert further
        assert sum(more.battles for more in further) <= ADAPTIVE
        assert played[iteration] - played[iteration - 1] == (3 + iteration) * FIRST + sum(m.battles for m in further)
    last = _games(store, 2)
    games = last.battles_by_cell()
    assert games.max() <= BATTLES_PER_PAIR
    assert played[-1] < full_table_battles(len(last.policies), settings.evaluate) / 2
    weak = games[last.policies.index(PolicyId("random")), last.policies.index(PolicyId("max-power"))]
    assert weak - FIRST <= ADAPTIVE // 10, "two that are clearly dominated decide nothing between them"


def test_every_retry_reads_the_same_schedule(store: ObjectStore) -> None:
    settings = _adaptive()
    make_iteration(store, settings, 0)
    plan_step.run(store, settings, 1, 0)
    first = read_published(store, 1, keys.PLAN, IterationPlan)
    store.delete(keys.manifest(1, StepName.PLAN, 0))
    plan_step.run(store, settings, 1, 0)
    assert read_published(store, 1, keys.PLAN, IterationPlan) == first


def test_evaluate_plays_what_solve_then_checks(store: ObjectStore) -> None:
    settings = _adaptive()
    for iteration in range(2):
        make_iteration(store, settings, iteration)
    missing = missing_evidence(store, settings, game_of_run(store, settings), 1)
    assert len(missing) == int(_games(store, 1).battles_by_cell().sum() - _games(store, 0).battles_by_cell().sum()) // 2


def test_a_rejected_policy_joins_nothing(store: ObjectStore) -> None:
    settings = made_settings(iterations=3, gated=True)
    weak, strong = trained_policy(1), trained_policy(2)
    for iteration in range(3):
        make_iteration(store, settings, iteration, elo={weak: 100.0, strong: 900.0})
    members = [read_published(store, iteration, keys.POPULATION, Population).ids for iteration in range(3)]
    assert weak not in members[1]
    assert weak not in _games(store, 2).policies
    assert strong in members[2]
    assert read_published(store, 2, keys.PLAN, IterationPlan).learner == trained_policy(0), "the newest that was let in"
    analysis = read_published(store, 1, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert analysis.exploitability.best_response_gap is None, "nobody new answered the meta-strategy"
    assert missing_evidence(store, settings, game_of_run(store, settings), 1) == []


def test_the_policy_that_a_gate_rejected_stays_on_record(store: ObjectStore) -> None:
    settings = made_settings(iterations=2, gated=True)
    for iteration in range(2):
        make_iteration(store, settings, iteration, elo={trained_policy(1): 100.0})
    (trained,) = read_from_shards(store, 1, StepName.TRAIN, 1, TRAINING_RESULT, TrainingResult)
    (gate,) = read_from_shards(store, 1, StepName.GATE, 1, GATE_RESULT, GateResult)
    assert (gate.policy, gate.parent, gate.decision) == (trained.policy, trained.parent, "reject")
    assert gate.battles == 24


def test_without_the_gate_s_result_nobody_joins(store: ObjectStore) -> None:
    settings = made_settings(iterations=2, gated=True)
    make_iteration(store, settings, 0)
    store.delete(keys.manifest(0, StepName.GATE, 0))
    with pytest.raises(DataError, match="nashdex step gate"):
        missing_evidence(store, settings, game_of_run(store, settings), 0)
