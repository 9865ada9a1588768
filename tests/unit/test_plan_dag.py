"""The plan as data."""

from itertools import pairwise

import pytest

from nashdex.core.settings import RunSettings
from nashdex.core.steps import StepName
from nashdex.orchestrator.plan import ITERATION, NEXT_ITERATION, edges, num_shards
from nashdex.orchestrator.steps import MODULES, step_function


def test_an_iteration_has_every_step_once_after_all_it_waits_for() -> None:
    assert sorted(step.name for step in ITERATION) == sorted(StepName)
    seen: set[StepName] = set()
    for step in ITERATION:
        assert seen.issuperset(step.after)
        seen.add(step.name)


def test_edges_are_the_designed_chain_and_lead_to_the_next_iteration() -> None:
    chain = [StepName.PLAN, StepName.COLLECT, StepName.TRAIN, StepName.EVALUATE, StepName.SOLVE, StepName.REPORT]
    assert set(edges()) == set(pairwise(chain))
    assert NEXT_ITERATION == (StepName.REPORT, StepName.PLAN)


def test_only_collect_train_and_evaluate_fan_out_each_by_its_own_setting() -> None:
    settings = RunSettings.model_validate({"collect": {"shards": 3}, "train": {"seeds": 5}, "evaluate": {"shards": 7}})
    assert {step: num_shards(settings, step) for step in StepName} == {
        StepName.PLAN: 1,
        StepName.COLLECT: 3,
        StepName.TRAIN: 5,
        StepName.EVALUATE: 7,
        StepName.SOLVE: 1,
        StepName.REPORT: 1,
    }


@pytest.mark.parametrize("name", StepName)
def test_every_step_has_code(name: StepName) -> None:
    assert name in MODULES
    assert callable(step_function(name))
