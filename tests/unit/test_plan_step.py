"""Who trains against whom."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.settings import RunSettings
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry
from nashdex.orchestrator.plan_step import first_plan, next_plan, run
from nashdex.store import open_store


def _network(name: str, iteration: int) -> PolicyEntry:
    return PolicyEntry(id=PolicyId(name), kind="network", name=name, iteration=iteration, parent=None)


SETTINGS = RunSettings()
SCRIPTED = first_plan(SETTINGS).population
GROWN = SCRIPTED.with_members((_network("clone", 0), _network("weak", 1), _network("strong", 1)))


def test_iteration_0_clones_the_teacher_against_the_scripted_policies_uniformly() -> None:
    settings = RunSettings.model_validate(
        {"population": {"initial": ["random", "max-power"]}, "collect": {"teacher": "heuristic"}}
    )
    plan = first_plan(settings)
    assert plan.oracle == "clone"
    assert plan.learner == "heuristic"
    assert plan.opponents == {"random": 0.5, "max-power": 0.5}
    assert [(entry.id, entry.kind) for entry in plan.population.policies] == [
        ("random", "scripted"),
        ("max-power", "scripted"),
    ]


def test_the_newest_network_improves_and_of_several_the_best_rated() -> None:
    strategy = {PolicyId("clone"): 0.25, PolicyId("strong"): 0.75, PolicyId("random"): 0.0}
    plan = next_plan(SETTINGS, 2, GROWN, strategy, {"clone": 900.0, "weak": 1.0, "strong": 2.0})
    assert (plan.iteration, plan.oracle, plan.learner) == (2, "ppo", "strong")
    assert plan.opponents == {"clone": 0.25, "strong": 0.75}, "who is never played is no opponent"
    assert plan.population == GROWN
    turned = next_plan(SETTINGS, 2, GROWN, strategy, {"weak": 3.0, "strong": 2.0})
    assert turned.learner == "weak"


def test_without_a_network_there_is_nothing_to_improve() -> None:
    with pytest.raises(DataError, match="no network"):
        next_plan(SETTINGS, 1, SCRIPTED, {PolicyId("random"): 1.0}, {})


def test_a_meta_strategy_of_strangers_is_refused() -> None:
    with pytest.raises(DataError, match="stranger"):
        next_plan(SETTINGS, 1, GROWN, {PolicyId("stranger"): 1.0}, {})


def test_publishes_once_and_names_the_step_that_must_run_first(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    manifest = run(store, SETTINGS, 0, 0)
    assert run(store, SETTINGS, 0, 0) == manifest
    stored = IterationPlan.from_json(store.get(keys.published(0, keys.PLAN)), "plan")
    assert stored == first_plan(SETTINGS)
    with pytest.raises(DataError, match=r"nashdex step solve .*--iteration 0"):
        run(store, SETTINGS, 1, 0)
    assert not store.exists(keys.published(1, keys.PLAN))
