"""Sparse matchmaking: a new policy of a large population plays the cells that decide, and the rest is imputed."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.planned import PlannedCell
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import FurtherBattles, IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.matchmaking import contested_unplayed_cells, deciding_opponents
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.report.document import Report
from nashdex.runs.fit import check_fit
from nashdex.settings.run import EvaluateSettings, RunSettings
from nashdex.settings.solve import SolveSettings
from nashdex.store import open_store
from support.made_runs import finish_iteration, made_settings, make_iteration, trained_policy
from support.tournaments import matrix, population

A, B, C, D = (PolicyId(name) for name in "abcd")
ELO = {"a": 1000.0, "b": 1000.0, "c": 1000.0, "d": 1600.0}


def _trained(names: str) -> Population:
    """Members that were trained: none is an anchor."""
    members = population(*names).policies
    return Population(policies=tuple(entry.model_copy(update={"kind": "network", "iteration": 0}) for entry in members))


def test_a_new_policy_meets_its_opponents_its_parent_and_who_is_played_in_most_draws() -> None:
    support = {A: 0.1, B: 0.9, C: 0.5, D: 0.0}
    for members in permutations("abcd"):
        met = deciding_opponents(_trained("".join(members)), {A: 1.0}, "d", support, ELO, num_opponents=3)
        assert met == (A, B, D)


def test_anchors_are_met_before_others() -> None:
    mixed = Population(policies=(*population("a").policies, *_trained("bcd").policies))
    assert deciding_opponents(mixed, {D: 1.0}, "d", {B: 0.9, C: 0.5}, ELO, num_opponents=2) == (A, D)


def test_a_small_population_meets_whole() -> None:
    assert deciding_opponents(_trained("abcd"), {A: 1.0}, "d", {}, ELO, num_opponents=4) is None


def test_cells_that_were_left_out_are_played_where_the_mixture_plays_their_policies_and_they_are_close() -> None:
    counted = matrix(
        "abcd", [[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4], [[0, 2, 0, 0], [2, 0, 0, 0], [0] * 4, [0] * 4]
    )
    for order in permutations("abcd"):
        ids = [PolicyId(name) for name in order]
        games = counted.over(ids).battles_by_cell()
        support = {A: 0.9, B: 0.0, C: 0.0, D: 0.0}
        assert contested_unplayed_cells(ids, games, support, ELO, num_cells=5) == [(A, C), (A, D)]
        assert contested_unplayed_cells(ids, games, support, ELO, num_cells=1) == [(A, C)]


def test_the_demand_leaves_out_the_other_cells() -> None:
    plan = IterationPlan(
        iteration=1,
        oracle="ppo",
        population=population("a", "b", "c"),
        rule="meta-strategy",
        opponents={A: 1.0},
        learner=B,
        further=(FurtherBattles(a=A, b=B, battles=4),),
        met=(A, C),
    )
    demand = demand_of(plan, EvaluateSettings(battles_per_pair=20))
    cells = SampledCounts.unplayed(()).missing_cells([A, B, C, D, PolicyId("e")], demand)
    assert cells == [
        PlannedCell(A, B, range(4)),
        PlannedCell(A, D, range(20)),
        PlannedCell(A, PolicyId("e"), range(20)),
        PlannedCell(C, D, range(20)),
        PlannedCell(C, PolicyId("e"), range(20)),
        PlannedCell(D, PolicyId("e"), range(20)),
    ]


def _settings(**evaluate: int) -> RunSettings:
    settings = made_settings(iterations=4, battles_per_pair=8, evaluate=evaluate)
    return settings.model_copy(update={"solve": SolveSettings(num_draws=100, unplayed="bradley-terry")})


def _plan(store_folder: Path, iteration: int) -> bytes:
    return open_store(str(store_folder)).get(keys.published(iteration, keys.PLAN))


def test_a_run_imputes_what_it_did_not_play_and_says_so(tmp_path: Path) -> None:
    settings = _settings(num_opponents=3)
    store = open_store(str(tmp_path))
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        finish_iteration(store, settings, iteration)
    plan = json.loads(_plan(tmp_path, 3))
    assert len(plan["met"]) == 3 < len(plan["population"]["policies"])
    analysis = MetaGameAnalysis.from_json(store.get(keys.published(3, keys.META_GAME_ANALYSIS)), "analysis")
    unmet = {entry["id"] for entry in plan["population"]["policies"]} - set(plan["met"])
    imputed = {frozenset(cell) for cell in analysis.imputed_cells}
    assert {frozenset({policy, trained_policy(3)}) for policy in unmet} <= imputed
    assert analysis.exploitability.best_response_gap is not None, "it has battles of its own"
    report = Report.from_json(store.get(keys.published(3, keys.REPORT)), "report")
    assert {frozenset(cell) for cell in report.payoffs.imputed} == imputed
    page = store.get(keys.published(3, keys.REPORT_PAGE)).decode()
    assert f"{len(imputed)} pairs were not played" in " ".join(page.split())


def test_documents_are_those_of_the_full_schedule_while_the_population_is_small(tmp_path: Path) -> None:
    for name, settings in (("sparse", _settings(num_opponents=6)), ("full", _settings())):
        store = open_store(str(tmp_path / name))
        for iteration in range(3):
            make_iteration(store, settings, iteration)
    for document in (keys.PLAN, keys.INTERACTION_MATRIX, keys.META_STRATEGY, keys.META_GAME_ANALYSIS):
        key = keys.published(2, document)
        assert open_store(str(tmp_path / "sparse")).get(key) == open_store(str(tmp_path / "full")).get(key)
    assert b'"met"' not in _plan(tmp_path / "sparse", 2), "the plan's bytes are those of versions without the setting"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "solve.unplayed is 'block'"),
        ({"format": "kuhn_poker", "train": {"oracle": "exact"}, "population": {"initial": ["random"]}}, "no battles"),
    ],
)
def test_settings_that_cannot_leave_cells_out_are_refused(changes: dict[str, object], problem: str) -> None:
    settings = RunSettings.model_validate({"evaluate": {"num_opponents": 50}, **changes})
    with pytest.raises(ConfigurationError, match=problem):
        check_fit(settings)
