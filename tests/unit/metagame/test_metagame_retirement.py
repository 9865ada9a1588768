"""Members that the meta-strategy no longer plays retire, and return when it plays them again."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.local.summary import describe_iteration
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.report.document import Report
from nashdex.runs.creation import open_run
from nashdex.runs.fit import check_fit
from nashdex.runs.verification import verify_run
from nashdex.settings.run import RunSettings
from nashdex.settings.solve import SolveSettings
from nashdex.store import open_store
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from support.made_runs import finish_iteration, made_settings, make_iteration, make_run, trained_policy

STRENGTHS: dict[str, float] = {trained_policy(iteration): 500.0 + 150.0 * iteration for iteration in range(5)}
ELO = {"random": 0.0, "first": 100.0, "old": 150.0, "new": 400.0}


def _entry(policy: str, iteration: int | None, role: str | None = None) -> PolicyEntry:
    kind = "scripted" if iteration is None else "network"
    return PolicyEntry(id=PolicyId(policy), kind=kind, name=policy, iteration=iteration, parent=None, role=role)


def _judged(population: Population, *supports: set[str], elo: dict[str, float] = ELO) -> Population:
    for support in supports:
        population = population.with_retirement({PolicyId(policy) for policy in support}, elo, after_iterations=2)
    return population


def _retired(population: Population) -> set[PolicyId]:
    return set(population.ids) - set(population.active.ids)


MEMBERS = Population(policies=(_entry("random", None), _entry("first", 0), _entry("old", 1), _entry("new", 2)))


def test_only_an_idle_and_weak_member_retires_and_it_returns() -> None:
    assert _retired(_judged(MEMBERS, {"new"})) == set(), "one iteration is not enough"
    assert _retired(_judged(MEMBERS, {"new"}, {"new"})) == {"old"}, "anchors, first network and newest stay"
    assert _retired(_judged(MEMBERS, {"new"}, {"old"}, {"new"})) == set(), "the count begins again"
    assert _retired(_judged(MEMBERS, {"new"}, {"new"}, {"old"})) == set(), "it returns"
    assert _retired(_judged(MEMBERS, {"new"}, {"new"}, elo=ELO | {"old": 300.0})) == set(), "it is not rated low"


def test_the_newest_of_each_role_stays() -> None:
    exploiter = (*MEMBERS.policies[:2], _entry("old", 1, "main-exploiter"), _entry("new", 2, "main"))
    assert _retired(_judged(Population(policies=exploiter), {"new"}, {"new"})) == set()


def _settings(after: int = 1, **evaluate: int) -> RunSettings:
    settings = made_settings(iterations=5, evaluate={"battles_per_pair": 8, **evaluate})
    retiring = settings.population.model_copy(update={"retire_after_iterations": after})
    solve = SolveSettings(num_draws=100, unplayed="bradley-terry")
    return settings.model_copy(update={"solve": solve, "population": retiring})


def _is_of_what_is_made(problem: str) -> bool:
    """Say whether a problem is about battles of collect and weights, which such a run does not have."""
    return "collect" in problem or "has no policy" in problem


def _plan(store: ObjectStore, iteration: int) -> IterationPlan:
    return read_published(store, iteration, keys.PLAN, IterationPlan)


@pytest.mark.parametrize("num_opponents", [0, 5])
def test_a_run_neither_plays_nor_trains_against_retired_members(tmp_path: Path, num_opponents: int) -> None:
    settings = _settings(num_opponents=num_opponents)
    store = make_run(str(tmp_path / "run"), iterations=5, settings=settings, elo=STRENGTHS)
    plan = _plan(store, 4)
    retired = _retired(plan.population)
    assert retired
    assert not retired & {trained_policy(0), trained_policy(3), *plan.opponents}
    assert plan.met is not None
    assert not retired & set(plan.met)
    before, matrix = (read_published(store, i, keys.INTERACTION_MATRIX, InteractionMatrix) for i in (3, 4))
    new = matrix.policies.index(trained_policy(4))
    for policy in retired:
        row, old = matrix.policies.index(policy), before.policies.index(policy)
        assert matrix.battles_by_cell()[row, new] == 0
        assert matrix.battles_by_cell()[row].sum() == before.battles_by_cell()[old].sum() > 0, "its cells are kept"
    report = read_published(store, 4, keys.REPORT, Report)
    assert {row.id for row in report.policies if row.retired} == retired
    assert f"retired         {len(retired)} of 8 policies" in describe_iteration(report, 4)
    assert f"{len(retired)} of 8 policies are retired" in store.get(keys.published(4, keys.REPORT_PAGE)).decode()
    verified = verify_run(open_run(store.uri))
    recomputed = {key.rpartition("/")[2] for key in verified.recomputed if key.startswith("iterations/0004/")}
    assert {keys.PLAN, keys.POPULATION, keys.REPORT} <= recomputed
    assert not [problem for problem in verified.problems if not _is_of_what_is_made(problem)]


def test_the_adaptive_schedule_gives_all_its_battles_to_members_that_play(tmp_path: Path) -> None:
    """An unplayed cell of a retired member is uncertain and has the fewest battles, and yet it gets none."""
    store, settings = open_store(str(tmp_path)), _settings(adaptive_battles=40, first_battles=4, battles_per_pair=40)
    for iteration in range(5):
        make_iteration(store, settings, iteration, STRENGTHS)
    plan = _plan(store, 4)
    retired = _retired(plan.population)
    assert retired
    assert not any({more.a, more.b} & retired for more in plan.further)
    assert sum(more.battles for more in plan.further) == 40


def test_a_plan_that_is_lost_is_made_again_with_the_same_members(tmp_path: Path) -> None:
    settings = _settings()
    store = make_run(str(tmp_path), iterations=5, settings=settings)
    wanted = store.get(keys.published(4, keys.PLAN))
    for key in [key for key in store.list("iterations/0004/") if "/plan/" in key or key.endswith("plan.json")]:
        store.delete(key)
    finish_iteration(store, settings, 4)
    assert store.get(keys.published(4, keys.PLAN)) == wanted


def test_without_the_rule_documents_say_nothing_about_it(tmp_path: Path) -> None:
    store = make_run(str(tmp_path), iterations=3, settings=_settings(after=0))
    for document in (keys.PLAN, keys.POPULATION, keys.REPORT):
        data = store.get(keys.published(2, document))
        assert b"idle_iterations" not in data
        assert b'"retired"' not in data


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "population.retire_after_iterations leaves cells unplayed, and solve.unplayed is 'block'"),
        ({"format": "kuhn_poker", "train": {"oracle": "exact"}}, "plays no battles to leave out"),
    ],
)
def test_settings_that_cannot_leave_cells_out_are_refused(changes: dict[str, object], problem: str) -> None:
    population = {"retire_after_iterations": 3, "initial": ["random"]}
    with pytest.raises(ConfigurationError, match=problem):
        check_fit(RunSettings.model_validate({"population": population, **changes}))


def test_numbers_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        RunSettings.model_validate({"population": {"retire_after_iterations": -1}})
