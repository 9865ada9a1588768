"""The solve step on a store: what it publishes, and that no battle is ever counted twice or lost."""

from pathlib import Path

import numpy as np
import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName, shard_range
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.ledger import LEDGER, encode
from nashdex.metagame.evidence.planned import Demand
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.settings.run import EvaluateSettings, RunSettings
from nashdex.settings.solve import SolveSettings
from nashdex.settings.train import TrainSettings
from nashdex.solver import step as solve_step
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from support.plans import publish_plan
from support.tournaments import ledger, population, record

STRENGTH = {"random": 0.0, "max-power": 1.0, "clone": 2.0, "best": 3.0, "second": 1.5, "third": -1.0}


def _settings(num_seeds: int = 1) -> RunSettings:
    return RunSettings(
        train=TrainSettings(seeds=num_seeds),
        evaluate=EvaluateSettings(battles_per_pair=30, shards=2),
        solve=SolveSettings(num_draws=100),
    )


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path)).at("run")


def _train(store: ObjectStore, iteration: int, shard: int, policy: str, oracle: str) -> None:
    result = TrainingResult(
        policy=PolicyId(policy),
        parent=PolicyId("clone") if oracle == "ppo" else None,
        kind="network",
        name=f"clone {iteration}" if oracle == "clone" else f"best response {iteration}",
        oracle=oracle,
        num_updates=1,
        num_decisions=1,
        num_parameters=1,
        rollbacks=0,
        curve=(),
        summary={},
        seconds=1.0,
    )
    attempt = Attempt(store, iteration, StepName.TRAIN, shard)
    attempt.write(TRAINING_RESULT, result.to_json())
    attempt.finish({})


def _evaluate(store: ObjectStore, settings: RunSettings, members: Population, iteration: int, shard: int) -> None:
    """Play a shard's part as evaluate does, with results drawn from the strengths above."""
    counted = SampledCounts.unplayed(())
    if iteration:
        key = keys.published(iteration - 1, keys.INTERACTION_MATRIX)
        counted = SampledCounts.from_json(store.get(key), key)
    planned = counted.missing(members.ids, Demand(settings.evaluate.battles_per_pair))
    generator = np.random.default_rng([iteration, shard])
    records = []
    for index in shard_range(len(planned), settings.evaluate.shards, shard):
        battle = planned[index]
        score = 1 / (1 + np.exp(STRENGTH[battle.b] - STRENGTH[battle.a]))
        records.append(record(battle, battle.a if generator.random() < score else battle.b))
    attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
    attempt.write(LEDGER, encode(ledger(records)))
    attempt.finish({"battles": len(records)})


def _iterate(
    store: ObjectStore, settings: RunSettings, iteration: int, before: Population, trained: dict[str, str]
) -> Manifest:
    """Plan, train and play an iteration, each evaluate shard twice over, and solve it."""
    plan = IterationPlan(
        iteration=iteration,
        oracle="clone" if iteration == 0 else "ppo",
        population=before,
        rule="initial" if iteration == 0 else "meta-strategy",
        opponents={policy: 1 / len(before.ids) for policy in before.ids},
        learner=before.ids[-1],
    )
    publish_plan(store, plan)
    for shard, (policy, oracle) in enumerate(trained.items()):
        _train(store, iteration, shard, policy, oracle)
    members = before.with_members(population(*trained).policies)
    for shard in (0, 1, 1, 0):
        _evaluate(store, settings, members, iteration, shard)
    return solve_step.run(store, settings, iteration, 0)


def _published(store: ObjectStore, iteration: int) -> tuple[Population, SampledCounts, MetaStrategy, MetaGameAnalysis]:
    read = {
        name: store.get(keys.published(iteration, name))
        for name in (keys.POPULATION, keys.INTERACTION_MATRIX, keys.META_STRATEGY, keys.META_GAME_ANALYSIS)
    }
    return (
        Population.from_json(read[keys.POPULATION], "population"),
        SampledCounts.from_json(read[keys.INTERACTION_MATRIX], "matrix"),
        MetaStrategy.from_json(read[keys.META_STRATEGY], "strategy"),
        MetaGameAnalysis.from_json(read[keys.META_GAME_ANALYSIS], "analysis"),
    )


def test_two_iterations(store: ObjectStore) -> None:
    """Every cell holds exactly the planned battles, the newcomer's gap is measured, and ids carry everything."""
    _iterate(store, _settings(), 0, population("random", "max-power"), {"clone": "clone"})
    members, counted, strategy, analysis = _published(store, 0)
    assert [(entry.id, entry.name, entry.iteration) for entry in members.policies] == [
        ("random", "random", None),
        ("max-power", "max-power", None),
        ("clone", "clone 0", 0),
    ]
    assert (counted.battles_by_cell() == 30 * (1 - np.eye(3))).all()
    assert analysis.exploitability.best_response_gap is None

    manifest = _iterate(store, _settings(), 1, members, {"best": "ppo"})
    members, counted, strategy, analysis = _published(store, 1)
    assert [entry.name for entry in members.policies][-1] == "best response 1"
    assert counted.policies == members.ids
    assert (counted.battles_by_cell() == 30 * (1 - np.eye(4))).all()
    assert manifest.counts == {"policies": 4, "battles": 90}
    gap = analysis.exploitability.best_response_gap
    assert gap is not None
    assert (gap.policy, gap.games) == ("best", 90)
    assert gap.low > 0.2
    assert analysis.anchors == {"random": 1000.0}
    assert strategy.meta_strategy.keys() == set(members.ids)
    assert store.get(manifest.objects[keys.META_STRATEGY].key) == store.get(keys.published(1, keys.META_STRATEGY))


def test_a_solved_iteration_is_not_solved_again(store: ObjectStore) -> None:
    manifest = _iterate(store, _settings(), 0, population("random", "max-power"), {"clone": "clone"})
    assert solve_step.run(store, _settings(), 0, 0) == manifest


def test_a_new_attempt_publishes_the_same_bytes(store: ObjectStore) -> None:
    first = _iterate(store, _settings(), 0, population("random", "max-power"), {"clone": "clone"})
    store.delete(keys.manifest(0, StepName.SOLVE, 0))
    second = solve_step.run(store, _settings(), 0, 0)
    assert second.attempt != first.attempt
    assert {name: found.sha256 for name, found in second.objects.items()} == {
        name: found.sha256 for name, found in first.objects.items()
    }


def test_of_two_oracles_the_better_is_scored_on_other_battles(store: ObjectStore) -> None:
    settings = _settings(num_seeds=2)
    _iterate(store, settings, 0, population("random", "max-power"), {"clone": "clone", "second": "clone"})
    _iterate(store, settings, 1, _published(store, 0)[0], {"best": "ppo", "third": "ppo"})
    gap = _published(store, 1)[3].exploitability.best_response_gap
    assert gap is not None
    # Fifteen pairs against each of four opponents, seven of them odd.
    assert (gap.policy, gap.games) == ("best", 4 * 7 * 2)


def test_a_policy_that_training_only_gave_back_is_no_candidate(store: ObjectStore) -> None:
    settings = _settings(num_seeds=2)
    _iterate(store, settings, 0, population("random", "max-power"), {"clone": "clone", "second": "clone"})
    _iterate(store, settings, 1, _published(store, 0)[0], {"best": "ppo", "second": "ppo"})
    members, _, _, analysis = _published(store, 1)
    assert members.ids == ("random", "max-power", "clone", "second", "best")
    gap = analysis.exploitability.best_response_gap
    assert gap is not None
    assert (gap.policy, gap.games) == ("best", 4 * 30)


def test_an_evaluation_that_is_not_done_is_named(store: ObjectStore) -> None:
    _iterate(store, _settings(), 0, population("random", "max-power"), {"clone": "clone"})
    store.delete(keys.manifest(0, StepName.SOLVE, 0))
    store.delete(keys.manifest(0, StepName.EVALUATE, 1))
    with pytest.raises(DataError, match="evaluate has not finished shard 1"):
        solve_step.run(store, _settings(), 0, 0)


def test_ledgers_with_missing_battles_are_refused(store: ObjectStore) -> None:
    _iterate(store, _settings(), 0, population("random", "max-power"), {"clone": "clone"})
    for step in (StepName.SOLVE, StepName.EVALUATE):
        store.delete(keys.manifest(0, step, 0))
    attempt = Attempt(store, 0, StepName.EVALUATE, 0)
    attempt.write(LEDGER, encode(ledger([])))
    attempt.finish({})
    with pytest.raises(DataError, match=r"battle 0 of 'clone' against 'max-power' \(and 44 more\) is planned"):
        solve_step.run(store, _settings(), 0, 0)
    assert not store.exists(keys.manifest(0, StepName.SOLVE, 0))


def test_an_altered_ledger_is_refused(store: ObjectStore) -> None:
    _iterate(store, _settings(), 0, population("random", "max-power"), {"clone": "clone"})
    store.delete(keys.manifest(0, StepName.SOLVE, 0))
    found = Manifest.from_json(store.get(keys.manifest(0, StepName.EVALUATE, 0)), "manifest").objects[LEDGER].key
    data = store.get(found)
    store.put(found, data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DataError, match="sha256"):
        solve_step.run(store, _settings(), 0, 0)
