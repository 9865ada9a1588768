"""Every opponent rule and the gate over whole small runs of Kuhn poker: the project's own steps, one after another."""

from pathlib import Path
from typing import Any

import pytest

from nashdex.core import keys
from nashdex.core.results import COLLECT_RESULT, TRAINING_RESULT, CollectResult, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.updates.checkpoint import Continuation
from nashdex.local.summary import summarise
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.report.document import Report
from nashdex.runs.fit import check_fit
from nashdex.settings.opponents import LeagueSettings
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_from_shards, read_published
from nashdex.store.protocol import ObjectStore

pytestmark = pytest.mark.integration

ITERATIONS = 3
SMALL_PPO = {"decisions": 1, "round_battles": 200}


def _run(
    folder: Path,
    *,
    iterations: int = ITERATIONS,
    **values: Any,  # noqa: ANN401 - sections of the settings
) -> tuple[ObjectStore, RunSettings]:
    """Do every step of a run of Kuhn poker in this process."""
    settings = RunSettings.model_validate(
        {
            "run": "kuhn",
            "format": "kuhn_poker",
            "iterations": iterations,
            "seed": 1,
            "population": {"initial": ["random", "first-action"]},
            "network": {"hidden_size": 16, "num_hidden_layers": 1, "entity_size": 8, "critic_size": 8},
            "collect": {"battles": 200, "shards": 2, "teacher": "random"},
            "train": {"oracle": {"kind": "ppo"} | SMALL_PPO},
            "evaluate": {"shards": 2},
            "solve": {"num_draws": 100},
        }
        | values
    )
    check_fit(settings)
    store = open_store(str(folder))
    for iteration in range(iterations):
        for step in iteration_steps(settings):
            for shard in range(num_shards(settings, step.name)):
                step_function(step.name)(store, settings, iteration, shard)
    return store, settings


def _plans(store: ObjectStore, iterations: int = ITERATIONS) -> list[IterationPlan]:
    return [read_published(store, iteration, keys.PLAN, IterationPlan) for iteration in range(iterations)]


def _trained(store: ObjectStore, settings: RunSettings, iteration: int) -> list[TrainingResult]:
    return read_from_shards(store, iteration, StepName.TRAIN, settings.train.seeds, TRAINING_RESULT, TrainingResult)


def test_self_play_improves_the_newest_against_itself_and_learns_from_both_seats(tmp_path: Path) -> None:
    store, settings = _run(tmp_path, opponents="self-play", solve={"meta_solver": "last"})
    plans = _plans(store)
    assert [plan.rule for plan in plans] == ["initial", "self-play", "self-play"]
    for iteration in (1, 2):
        (before,) = _trained(store, settings, iteration - 1)
        assert plans[iteration].opponents == {before.policy: 1.0}
        assert plans[iteration].learner == before.policy
        (collected,) = read_from_shards(store, iteration, StepName.COLLECT, 1, COLLECT_RESULT, CollectResult)
        assert collected.battles == 0, "the training plays its own"
        (trained,) = _trained(store, settings, iteration)
        round_battles = settings.train.section_of("ppo").model_dump()["round_battles"]
        assert trained.num_decisions >= 2 * round_battles, "both seats decide at least once a battle"


def test_a_league_meets_every_class_that_is_there(tmp_path: Path) -> None:
    store, settings = _run(tmp_path, opponents="league")
    plans = _plans(store)
    assert [plan.rule for plan in plans] == ["initial", "league", "league"]
    (clone,), (first,) = (_trained(store, settings, iteration) for iteration in (0, 1))
    assert plans[1].opponents.keys() == {"random", "first-action", clone.policy}
    assert plans[2].opponents.keys() == {"random", "first-action", clone.policy, first.policy}
    league = LeagueSettings()
    assert plans[1].opponents[clone.policy] == pytest.approx(league.itself / (league.itself + league.baseline))
    assert sum(plans[2].opponents.values()) == pytest.approx(1)


@pytest.mark.slow
def test_exploiters_train_in_turn_with_the_main_agent_and_start_again(tmp_path: Path) -> None:
    roles = ["main", "main-exploiter"]
    league = {"kind": "league", "roles": roles, "exploiters": {"max_trainings": 1}}
    store, settings = _run(tmp_path, iterations=5, opponents=league)
    plans = _plans(store, iterations=5)
    trained = [_trained(store, settings, iteration)[0] for iteration in range(5)]
    clone = trained[0].policy
    assert [plan.role for plan in plans] == [None, *roles, *roles]
    assert [result.name for result in trained[1:]] == ["main 1", "main exploiter 2", "main 3", "main exploiter 4"]
    assert [result.parent for result in trained[1:]] == [clone, clone, trained[1].policy, clone]
    assert [plan.opponents for plan in plans[2::2]] == [{trained[1].policy: 1.0}, {trained[3].policy: 1.0}]
    reset = plans[4].reset
    assert reset is not None
    assert (reset.policy, reset.opponent, reset.cause) == (trained[2].policy, trained[1].policy, "trainings")
    members = read_published(store, 4, keys.POPULATION, Population).policies
    assert [entry.role for entry in members[-4:]] == [*roles, *roles]
    row = read_published(store, 4, keys.REPORT, Report).iterations[4]
    assert (row.role, row.reset) == ("main-exploiter", reset)
    assert "role            main-exploiter, starts again: main exploiter 2 scored" in summarise(store, 4)
    page = store.get(keys.published(4, keys.REPORT_PAGE)).decode().replace("\N{NO-BREAK SPACE}", " ")
    assert "a league, as main exploiter" in page
    assert "<small>starts again: main exploiter 2 scored" in page
    # Adam goes on with the weights, two iterations later, and starts again with them.
    steps = [_adam_steps(store, iteration) for iteration in range(1, 5)]
    updates = [result.num_updates for result in trained[1:]]
    assert steps == [updates[0], updates[1], updates[0] + updates[2], updates[3]]


def _adam_steps(store: ObjectStore, iteration: int) -> int:
    continuation = Continuation.read(store, read_manifest(store, iteration, StepName.TRAIN, 0))
    assert continuation is not None
    return max(int(value) for name, value in continuation.optimiser.items() if name.endswith("/step"))


def test_a_training_can_start_from_random_weights(tmp_path: Path) -> None:
    oracle = {"kind": "ppo", "decisions": 500, "round_battles": 50}
    store, settings = _run(tmp_path, train={"first": "fresh", "oracle": oracle})
    assert num_shards(settings, StepName.COLLECT) > 0
    (fresh,), (first,), _ = (_trained(store, settings, iteration) for iteration in range(ITERATIONS))
    assert (fresh.num_updates, fresh.curve) == (0, ())
    assert first.num_updates > 0
    plans = _plans(store)
    assert (plans[0].oracle, plans[1].learner) == ("fresh", fresh.policy)


def test_the_gate_lets_in_who_beats_its_parent_and_nobody_else(tmp_path: Path) -> None:
    store, settings = _run(
        tmp_path,
        gate={"test": "sprt"},
        train={
            "seeds": 2,
            "oracle": {"decisions": 1, "round_battles": 200, "learning_rate": 0.003, "minibatch_decisions": 64},
        },
    )
    members = read_published(store, ITERATIONS - 1, keys.POPULATION, Population)
    matrix = read_published(store, ITERATIONS - 1, keys.INTERACTION_MATRIX, ExactValues)
    decisions = []
    for iteration in range(ITERATIONS):
        gates = read_from_shards(store, iteration, StepName.GATE, settings.num_gates, GATE_RESULT, GateResult)
        assert [gate.policy for gate in gates] == [each.policy for each in _trained(store, settings, iteration)]
        for gate in gates:
            decisions.append(gate.decision)
            assert (gate.policy in members.ids) == (gate.decision != "reject")
            if gate.decision == "accept":
                assert gate.parent is not None
                cell = matrix.payoffs[members.ids.index(gate.policy)][members.ids.index(gate.parent)]
                assert gate.payoff == pytest.approx(cell)
                assert cell > 0
            nobody_to_beat = gate.parent in {None, gate.policy}
            assert (gate.decision == "exempt") == nobody_to_beat
    assert decisions[:2] == ["exempt", "exempt"], "clones have no parent"
    assert set(decisions[2:]) & {"accept", "reject"}


def test_exact_oracles_answer_from_iteration_0_on_and_collect_nothing(tmp_path: Path) -> None:
    store, _ = _run(tmp_path, train={"oracle": "exact"}, population={"initial": ["first-action"]}, network={})
    gains = [
        read_published(store, iteration, keys.META_GAME_ANALYSIS, MetaGameAnalysis).exploitability.exact
        for iteration in range(ITERATIONS)
    ]
    assert all(gain is not None for gain in gains)
    plans = _plans(store)
    assert [plan.rule for plan in plans] == ["initial", "meta-strategy", "meta-strategy"]
    assert [plan.oracle for plan in plans] == ["exact"] * ITERATIONS
    newest = [plan.population.ids[-1] for plan in plans]
    assert [plan.learner for plan in plans] == newest
