"""The plan as data."""

from itertools import pairwise

import pytest

from nashdex.core.steps import StepName
from nashdex.oracles.registry import needs_actors
from nashdex.planning.dag import MODULES, iteration_steps, num_shards, step_function
from nashdex.settings.run import RunSettings

WITHOUT_ACTORS = {"shards": 0}
PLAIN = RunSettings.model_validate({"actors": WITHOUT_ACTORS})
ACTING = RunSettings.model_validate({"actors": {"shards": 4}, "train": {"oracle": {"kind": "ppo", "decisions": 10**6}}})
GATED = RunSettings.model_validate({"gate": {"test": "sprt"}, "train": {"seeds": 3}, "actors": WITHOUT_ACTORS})


def edges(settings: RunSettings) -> set[tuple[StepName, StepName]]:
    return {(earlier, step.name) for step in iteration_steps(settings) for earlier in step.after}


@pytest.mark.parametrize("settings", [PLAIN, ACTING, GATED], ids=["plain", "acting", "gated"])
def test_an_iteration_has_every_step_once_after_all_it_waits_for(settings: RunSettings) -> None:
    steps = iteration_steps(settings)
    assert sorted(step.name for step in steps) == sorted(step for step in StepName if num_shards(settings, step))
    seen: set[StepName] = set()
    for step in steps:
        assert seen.issuperset(step.after)
        seen.add(step.name)


def test_edges_are_the_designed_chain() -> None:
    chain = [StepName.PLAN, StepName.COLLECT, StepName.TRAIN, StepName.EVALUATE, StepName.SOLVE, StepName.REPORT]
    assert edges(PLAIN) == set(pairwise(chain))


def test_a_gate_stands_between_train_and_evaluate_one_for_each_trained_policy() -> None:
    chain = [StepName.PLAN, StepName.COLLECT, StepName.TRAIN, StepName.GATE, StepName.EVALUATE]
    assert edges(GATED) == set(pairwise([*chain, StepName.SOLVE, StepName.REPORT]))
    assert num_shards(GATED, StepName.GATE) == 3
    assert num_shards(PLAIN, StepName.GATE) == 0


def test_actors_run_beside_a_training_that_plays_on() -> None:
    """They end when the training does. The report alone waits for that, to count what they cost."""
    added = {(StepName.COLLECT, StepName.ACT), (StepName.ACT, StepName.REPORT)}
    assert edges(ACTING) == edges(PLAIN) | added
    assert [step.name for step in iteration_steps(ACTING) if step.is_service] == [StepName.ACT]
    assert (num_shards(ACTING, StepName.ACT), num_shards(PLAIN, StepName.ACT)) == (4, 0)


@pytest.mark.parametrize(
    "values",
    [
        {"actors": {"shards": 0}, "train": {"oracle": {"kind": "ppo", "decisions": 10**6}}},
        {"format": "kuhn_poker", "train": {"oracle": {"kind": "ppo", "decisions": 10**6}}},
        {"format": "kuhn_poker", "train": {"oracle": "exact"}},
    ],
    ids=["none are wanted", "the trainer plays a small game itself", "the oracle plays no battles"],
)
def test_other_trainings_have_no_actors(values: dict[str, object]) -> None:
    assert not needs_actors(RunSettings.model_validate(values))


def test_a_run_without_settings_trains_on_battles_of_its_own() -> None:
    assert needs_actors(RunSettings())


def test_only_collect_train_and_evaluate_fan_out_each_by_its_own_setting() -> None:
    settings = RunSettings.model_validate(
        {"collect": {"shards": 3}, "train": {"seeds": 5}, "evaluate": {"shards": 7}, "actors": WITHOUT_ACTORS}
    )
    assert {step.name: num_shards(settings, step.name) for step in iteration_steps(settings)} == {
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
