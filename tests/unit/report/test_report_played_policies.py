"""A member that plays greedily: through evaluation, ratings, meta-strategy and report, beside the policy itself."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.plan import IterationPlan
from nashdex.planning import step as plan_step
from nashdex.report import step as report_step
from nashdex.report.document import Report, policy_names
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from support.made_runs import ROCK_PAPER_SCISSORS, finish_iteration, made_settings, make_iteration, make_tabular_run


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def _let_greedy_join(store: ObjectStore, settings: RunSettings, iteration: int) -> tuple[PolicyId, PolicyId]:
    """Plan the iteration with the newest policy's greedy play as a further member; return both ids."""
    plan_step.run(store, settings, iteration, 0)
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    newest = plan.population.policies[-1]
    greedy = newest.model_copy(update={"id": PolicyId(f"{newest.id}@greedy")})
    population = plan.population.with_members((greedy,))
    store.delete(keys.manifest(iteration, StepName.PLAN, 0))
    attempt = Attempt(store, iteration, StepName.PLAN, 0)
    attempt.publish(keys.PLAN, plan.model_copy(update={"population": population}).to_json())
    attempt.finish({})
    return newest.id, greedy.id


def _check(store: ObjectStore, iteration: int, policy: PolicyId, greedy: PolicyId) -> None:
    matrix = read_published(store, iteration, keys.INTERACTION_MATRIX, InteractionMatrix)
    assert {policy, greedy} <= set(matrix.policies)
    assert greedy in read_published(store, iteration, keys.META_STRATEGY, MetaStrategy).meta_strategy
    assert greedy in read_published(store, iteration, keys.META_GAME_ANALYSIS, MetaGameAnalysis).ratings
    report = read_published(store, iteration, keys.REPORT, Report)
    names, rows = policy_names(report.policies), {row.id: row for row in report.policies}
    assert names[greedy] == f"{rows[policy].name} @greedy"
    assert names[policy] == rows[policy].name
    assert rows[greedy].short_id == f"{rows[policy].short_id}@greedy"
    assert names[greedy] in store.get(keys.published(iteration, keys.REPORT_PAGE)).decode()


def test_battles_rate_greedy_play_apart_from_the_policy(store: ObjectStore) -> None:
    settings = made_settings(iterations=2)
    make_iteration(store, settings, 0)
    policy, greedy = _let_greedy_join(store, settings, 1)
    make_iteration(store, settings, 1, elo={greedy: 2000.0})
    report_step.run(store, settings, 1, 0)
    _check(store, 1, policy, greedy)
    ratings = read_published(store, 1, keys.META_GAME_ANALYSIS, MetaGameAnalysis).ratings
    assert ratings[greedy].elo > ratings[policy].elo + 200
    assert "so its rating leans high" in store.get(keys.published(1, keys.REPORT_PAGE)).decode()


def test_exact_payoffs_are_those_of_greedy_play(store: ObjectStore) -> None:
    settings = make_tabular_run(store, iterations=1, payoffs=ROCK_PAPER_SCISSORS)
    policy, greedy = _let_greedy_join(store, settings, 1)
    finish_iteration(store, settings, 1)
    _check(store, 1, policy, greedy)
    assert "leans high" not in store.get(keys.published(1, keys.REPORT_PAGE)).decode(), "there is no sampling error"
