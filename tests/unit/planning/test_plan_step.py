"""The plan: the learner and its opponents."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Kind, PolicyEntry, Population
from nashdex.planning.step import Solved, first_plan, next_plan, run
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from support.tournaments import matrix


def _trained(name: str, iteration: int, kind: Kind = "network") -> PolicyEntry:
    return PolicyEntry(id=PolicyId(name), kind=kind, name=name, iteration=iteration, parent=None)


SETTINGS = RunSettings()
STORE = open_store(".")
"""Scripted policies are stored nowhere."""
EXACT = RunSettings.model_validate({"train": {"oracle": "exact"}, "population": {"initial": ["random"]}})
SCRIPTED = first_plan(SETTINGS, STORE).population
GROWN = SCRIPTED.with_members((_trained("clone", 0), _trained("weak", 1), _trained("strong", 1)))
STRATEGY = {PolicyId("clone"): 0.25, PolicyId("strong"): 0.75, PolicyId("random"): 0.0}


def _solved(
    population: Population, strategy: dict[PolicyId, float] | None = None, ratings: dict[str, float] | None = None
) -> Solved:
    matrix = SampledCounts.unplayed(population.ids)
    return Solved(population, matrix, strategy or {PolicyId("random"): 1.0}, ratings or {})


def test_iteration_0_clones_the_teacher_against_the_scripted_policies_uniformly() -> None:
    settings = RunSettings.model_validate(
        {"population": {"initial": ["random", "max-power"]}, "collect": {"teacher": "heuristic"}}
    )
    plan = first_plan(settings, STORE)
    assert (plan.oracle, plan.rule) == ("clone", "initial")
    assert plan.learner == "heuristic"
    assert plan.opponents == {"random": 0.5, "max-power": 0.5}
    assert [(entry.id, entry.kind) for entry in plan.population.policies] == [
        ("random", "scripted"),
        ("max-power", "scripted"),
    ]


@pytest.mark.parametrize("oracle", ["exact", "q-learning"])
def test_an_oracle_that_needs_no_weights_answers_the_initial_population_at_once(oracle: str) -> None:
    settings = RunSettings.model_validate(
        {"train": {"oracle": oracle}, "population": {"initial": ["random", "first-action"]}}
    )
    plan = first_plan(settings, STORE)
    assert (plan.oracle, plan.rule) == (oracle, "initial")
    assert plan.opponents == {"random": 0.5, "first-action": 0.5}
    assert plan.learner in plan.population.ids


def test_the_newest_network_improves_and_of_several_the_best_rated() -> None:
    plan = next_plan(SETTINGS, 2, _solved(GROWN, STRATEGY, {"clone": 900.0, "weak": 1.0, "strong": 2.0}))
    assert (plan.iteration, plan.oracle, plan.learner) == (2, "ppo", "strong")
    assert plan.rule == "meta-strategy"
    assert plan.opponents == {"clone": 0.25, "strong": 0.75}, "who is never played is no opponent"
    assert plan.population == GROWN
    turned = next_plan(SETTINGS, 2, _solved(GROWN, STRATEGY, {"weak": 3.0, "strong": 2.0}))
    assert turned.learner == "weak"


def test_the_learner_is_the_newest_that_its_oracle_can_go_on_from() -> None:
    population = SCRIPTED.with_members((_trained("net", 0), _trained("table", 1, kind="table")))
    assert next_plan(SETTINGS, 2, _solved(population)).learner == "net"
    assert next_plan(EXACT, 2, _solved(population)).learner == "table"


def test_a_member_that_plays_greedily_is_an_opponent_and_never_the_learner() -> None:
    members = SCRIPTED.with_members((_trained("net", 0), _trained("net@greedy", 0), _trained("net@T0.5", 0)))
    strategy = {PolicyId("net@greedy"): 0.5, PolicyId("net@T0.5"): 0.5}
    plan = next_plan(SETTINGS, 1, _solved(members, strategy, {"net": 1.0, "net@greedy": 2.0, "net@T0.5": 3.0}))
    assert (plan.learner, plan.opponents) == ("net", strategy)
    only_greedy = SCRIPTED.with_members((_trained("net@greedy", 0),))
    with pytest.raises(DataError, match=r"no network to improve: .* none that plays at temperature 1"):
        next_plan(SETTINGS, 1, _solved(only_greedy))


def test_the_learner_may_be_a_first_member_whose_weights_iteration_0_began_with() -> None:
    target = PolicyEntry(id=PolicyId("target"), kind="network", name="target", iteration=None, parent=None)
    begun = SCRIPTED.with_members((target,))
    with pytest.raises(DataError, match="no network"):
        next_plan(SETTINGS, 1, _solved(begun))
    found_again = begun.with_members((_trained("target", 0),))
    assert next_plan(SETTINGS, 1, _solved(found_again)).learner == "target"
    better = found_again.with_members((_trained("better", 1),))
    assert next_plan(SETTINGS, 2, _solved(better)).learner == "better"


def test_a_plan_whose_learner_plays_greedily_is_refused_before_any_work() -> None:
    plan = json.loads(next_plan(SETTINGS, 1, _solved(GROWN)).to_json())
    with pytest.raises(DataError, match=r"learner.*'strong@greedy' says how a policy plays; expected .* 'strong'"):
        IterationPlan.from_json(json.dumps({**plan, "learner": "strong@greedy"}).encode(), "plan.json")


def test_training_may_always_start_from_the_clone() -> None:
    settings = RunSettings.model_validate({"train": {"oracle": {"start": "clone"}}})
    plan = next_plan(settings, 2, _solved(GROWN, STRATEGY, {"strong": 2.0}))
    assert (plan.learner, plan.opponents) == ("clone", {"clone": 0.25, "strong": 0.75})


def test_without_a_network_there_is_nothing_to_improve() -> None:
    with pytest.raises(DataError, match="no network"):
        next_plan(SETTINGS, 1, _solved(SCRIPTED))


def test_a_meta_strategy_of_strangers_is_refused() -> None:
    with pytest.raises(DataError, match="stranger"):
        next_plan(SETTINGS, 1, _solved(GROWN, {PolicyId("stranger"): 1.0}))


@pytest.mark.parametrize("rule", [name for name in OPPONENT_RULES.names if not OPPONENT_RULES[name].is_fixed])
def test_iteration_0_is_the_same_under_every_rule(rule: str) -> None:
    assert first_plan(RunSettings.model_validate({"opponents": rule}), STORE) == first_plan(SETTINGS, STORE)


def test_self_play_meets_the_learner_alone() -> None:
    settings = RunSettings.model_validate({"opponents": "self-play"})
    plan = next_plan(settings, 2, _solved(GROWN, STRATEGY, {"weak": 1.0, "strong": 2.0}))
    assert (plan.rule, plan.learner, plan.opponents) == ("self-play", "strong", {"strong": 1.0})


def test_a_league_weighs_opponents_by_the_win_rates_that_were_counted() -> None:
    members = Population(
        policies=(
            PolicyEntry(id=PolicyId("random"), kind="scripted", name="random", iteration=None, parent=None),
            _trained("beaten", 0),
            _trained("nemesis", 0),
            _trained("learner", 1),
        )
    )
    wins = ((0, 0, 0, 0), (98, 0, 49, 9), (98, 49, 0, 89), (98, 89, 9, 0))
    games = tuple(tuple(wins[i][j] + wins[j][i] for j in range(4)) for i in range(4))
    counted = matrix(members.ids, wins, games)
    settings = RunSettings.model_validate(
        {"opponents": {"kind": "league", "baseline": 0.1, "itself": 0.2, "peer": 0.7, "exploitable": 0.0}}
    )
    solved = Solved(members, counted, {PolicyId("random"): 1.0}, dict.fromkeys(members.ids, 1000.0))
    plan = next_plan(settings, 2, solved)
    assert plan.rule == "league"
    hard = {"beaten": 0.1**2, "nemesis": 0.9**2}
    assert plan.opponents == pytest.approx(
        {
            "random": 0.1,
            "learner": 0.2,
            **{policy: 0.7 * weight / sum(hard.values()) for policy, weight in hard.items()},
        }
    )


@pytest.mark.parametrize("rule", [name for name in OPPONENT_RULES.names if not OPPONENT_RULES[name].is_fixed])
def test_a_plan_follows_ids_not_places(rule: str) -> None:
    settings = RunSettings.model_validate({"opponents": rule})
    ratings = {"clone": 900.0, "weak": 1100.0, "strong": 1150.0}
    plans = []
    for order in permutations(GROWN.policies):
        solved = _solved(Population(policies=order), STRATEGY, ratings)
        plans.append(next_plan(settings, 2, solved))
    assert len(plans) > 1
    assert {plan.learner for plan in plans} == {"strong"}
    assert all(plan.opponents == plans[0].opponents for plan in plans)


def test_publishes_once_and_names_the_step_that_must_run_first(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    manifest = run(store, SETTINGS, 0, 0)
    assert run(store, SETTINGS, 0, 0) == manifest
    stored = IterationPlan.from_json(store.get(keys.published(0, keys.PLAN)), "plan")
    assert stored == first_plan(SETTINGS, STORE)
    with pytest.raises(DataError, match=r"nashdex step solve .*--iteration 0"):
        run(store, SETTINGS, 1, 0)
    assert not store.exists(keys.published(1, keys.PLAN))
