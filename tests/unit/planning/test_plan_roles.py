"""A league with exploiters: whose turn it is, who they meet, and when they start again."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from nashdex.core.ids import PolicyId
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.planning.step import Solved, next_plan
from nashdex.settings.run import RunSettings
from support.tournaments import matrix

GAMES = 1000
RANDOM = PolicyEntry(id=PolicyId("random"), kind="scripted", name="random", iteration=None, parent=None)


def _network(name: str, iteration: int, parent: str | None = None, role: str | None = None) -> PolicyEntry:
    return PolicyEntry(
        id=PolicyId(name),
        kind="network",
        name=name,
        iteration=iteration,
        parent=None if parent is None else PolicyId(parent),
        role=role,
    )


CLONE = _network("clone", 0)
MAIN = _network("main", 1, "clone", "main")
EXPLOITER = _network("exploiter", 2, "clone", "main-exploiter")
LEAGUE = _network("league", 3, "clone", "league-exploiter")
MAIN_4 = _network("main4", 4, "main", "main")
FIRST_ROUND = (RANDOM, CLONE, MAIN, EXPLOITER, LEAGUE)


def _plan(
    iteration: int,
    members: tuple[PolicyEntry, ...],
    scores: Mapping[tuple[str, str], float] | None = None,
    *,
    seed: int = 0,
    **exploiters: Any,  # noqa: ANN401 - settings
) -> IterationPlan:
    """Plan an iteration after the members scored these shares of GAMES battles against each other, else half."""
    settings = RunSettings.model_validate(
        {
            "seed": seed,
            "iterations": 20,
            "opponents": {
                "kind": "league",
                "roles": ["main", "main-exploiter", "league-exploiter"],
                "exploiters": exploiters,
            },
        }
    )
    population = Population(policies=members)
    ids = population.ids
    known = scores or {}
    wins = [[round(GAMES * known.get((a, b), 1 - known.get((b, a), 0.5))) if a != b else 0 for b in ids] for a in ids]
    games = [[GAMES if a != b else 0 for b in ids] for a in ids]
    counted = matrix(ids, tuple(map(tuple, wins)), tuple(map(tuple, games)))
    return next_plan(settings, iteration, Solved(population, counted, {RANDOM.id: 1.0}, {}))


def test_the_roles_train_in_turn_and_each_goes_on_from_its_own_newest_network() -> None:
    plans = [
        _plan(1, (RANDOM, CLONE)),
        _plan(2, (RANDOM, CLONE, MAIN)),
        _plan(3, (RANDOM, CLONE, MAIN, EXPLOITER)),
        _plan(4, FIRST_ROUND),
        _plan(5, (*FIRST_ROUND, MAIN_4)),
    ]
    assert [(plan.role, plan.learner) for plan in plans] == [
        ("main", "clone"),
        ("main-exploiter", "clone"),
        ("league-exploiter", "clone"),
        ("main", "main"),
        ("main-exploiter", "exploiter"),
    ]
    assert not any(plan.reset for plan in plans)
    assert {"exploiter", "league"} <= plans[3].opponents.keys(), "the main agent meets its exploiters"


def test_a_main_exploiter_meets_the_newest_main_agent_alone() -> None:
    plan = _plan(5, (*FIRST_ROUND, MAIN_4), {("exploiter", "main4"): 0.25})
    assert plan.opponents == {"main4": 1.0}


def test_a_main_exploiter_that_hardly_ever_wins_meets_the_main_agents_before_by_pfsp() -> None:
    scores = {("exploiter", "main4"): 0.1, ("exploiter", "main"): 0.4, ("exploiter", "clone"): 0.6}
    weights = {"main4": 0.1 * 0.9, "main": 0.4 * 0.6, "clone": 0.6 * 0.4}
    expected = {policy: weight / sum(weights.values()) for policy, weight in weights.items()}
    plan = _plan(5, (*FIRST_ROUND, MAIN_4), scores)
    assert plan.opponents == pytest.approx(expected, abs=1e-3)
    assert _plan(5, (*FIRST_ROUND, MAIN_4), scores, learnable_win_rate=0.05).opponents == {"main4": 1.0}


@pytest.mark.parametrize(("score", "resets"), [(0.71, True), (0.69, False)])
def test_a_main_exploiter_starts_again_when_it_beats_the_main_agent_that_it_trained_against(
    score: float, *, resets: bool
) -> None:
    plan = _plan(5, (*FIRST_ROUND, MAIN_4), {("exploiter", "main"): score, ("exploiter", "main4"): 0.4})
    assert plan.learner == ("clone" if resets else "exploiter")
    assert (plan.reset is not None) == resets
    if plan.reset is not None:
        assert plan.reset.model_dump() == {
            "policy": "exploiter",
            "cause": "win-rate",
            "opponent": "main",
            "win_rate": pytest.approx(score, abs=1e-3),
            "reset_win_rate": 0.7,
            "trainings": 1,
        }
    assert plan.opponents == {"main4": 1.0}


def test_a_main_exploiter_that_trained_for_long_starts_again_whatever_its_win_rate() -> None:
    again = _network("exploiter5", 5, "exploiter", "main-exploiter")
    members = (*FIRST_ROUND, MAIN_4, again, _network("league6", 6, "league", "league-exploiter"))
    plan = _plan(8, members, {("exploiter5", "main4"): 0.3})
    assert plan.learner == "clone"
    assert plan.reset is not None
    assert (plan.reset.cause, plan.reset.trainings, plan.reset.opponent) == ("trainings", 2, "main4")
    longer = _plan(8, members, {("exploiter5", "main4"): 0.3}, max_trainings=3)
    assert (longer.learner, longer.reset) == ("exploiter5", None)


def test_trainings_count_from_the_last_reset() -> None:
    members = (*FIRST_ROUND, MAIN_4, _network("exploiter5", 5, "clone", "main-exploiter"))
    assert _plan(8, members).learner == "exploiter5"


def test_a_league_exploiter_meets_everyone_by_pfsp() -> None:
    plan = _plan(6, (*FIRST_ROUND, MAIN_4), {("league", "random"): 0.9, ("league", "main4"): 0.1})
    weights = dict.fromkeys(["clone", "main", "exploiter"], 0.25) | {"random": 0.01, "main4": 0.81}
    expected = {policy: weight / sum(weights.values()) for policy, weight in weights.items()}
    assert (plan.role, plan.learner) == ("league-exploiter", "league")
    assert plan.opponents == pytest.approx(expected, abs=2e-3)


def test_a_league_exploiter_that_beats_all_older_members_starts_again_by_a_draw_of_the_seed() -> None:
    older = dict.fromkeys([("league", other.id) for other in (RANDOM, CLONE, MAIN, EXPLOITER)], 0.8)
    members = (*FIRST_ROUND, MAIN_4)
    scores = older | {("league", "main4"): 0.3}
    plans = [_plan(6, members, scores, seed=seed) for seed in range(100)]
    resets = sum(plan.reset is not None for plan in plans)
    assert 15 < resets < 35, "a quarter of the seeds"
    assert plans == [_plan(6, members, scores, seed=seed) for seed in range(100)]
    assert _plan(6, members, scores, league_reset_probability=1).learner == "clone"
    assert _plan(6, members, scores, league_reset_probability=0).learner == "league"
    beaten_by_one = scores | {("league", "exploiter"): 0.69}
    assert _plan(6, members, beaten_by_one, league_reset_probability=1).learner == "league"


@pytest.mark.parametrize(
    ("exploiters", "field"),
    [
        ({"reset_win_rate": 0.5}, "reset_win_rate"),
        ({"reset_win_rate": 1}, "reset_win_rate"),
        ({"learnable_win_rate": 0.5}, "learnable_win_rate"),
        ({"league_reset_probability": 1.1}, "league_reset_probability"),
        ({"max_trainings": 0}, "max_trainings"),
    ],
)
def test_thresholds_out_of_range_are_refused(exploiters: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        _plan(1, (RANDOM, CLONE), **exploiters)
