"""PPO in several rounds, under every preset, on Kuhn poker: resumable anywhere, and honest about what it measured."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError, StoppedError
from nashdex.core.ids import AttemptId, BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.games.interface import Arena
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.values import expected_payoffs
from nashdex.learning.rounds.planned import NEWEST
from nashdex.learning.rounds.players import LocalPlayer
from nashdex.learning.rounds.rounds import Rounds, RoundsSettings, SnapshotPool
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.policies.archive import load_network, network_table
from nashdex.policies.tables import load_table
from nashdex.rollout.sizing import Sizes
from nashdex.settings.anchors import PoolSettings
from nashdex.settings.damping import DAMPING_PRESETS
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.stopping import asked_to_stop

KUHN = openspiel_tree("kuhn_poker")


OF_A_ROUND = 225
"""Decisions of one seat in 200 battles of Kuhn poker, about: a player decides 1.125 times a battle."""


def decisions_of(num_rounds: int, num_seats: int = 1) -> int:
    """Return a length that ends a training within its round ``num_rounds``."""
    return num_seats * (OF_A_ROUND * num_rounds - OF_A_ROUND // 2)


def clone(store: ObjectStore, settings: RunSettings) -> PolicyId:
    return trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy


def finished(store: ObjectStore, settings: RunSettings, iteration: int) -> TrainingResult:
    return TrainingResult.from_json(read_object(store, run(store, settings, iteration, 0), TRAINING_RESULT), "result")


MOVING: dict[str, dict[str, object]] = {
    "s0-damped": {"step_target_nats": 1e-5},
    "kl-warmup": {"beta": {"warmup_updates": 9}},
    "adaptive-kl": {"beta": {"target_nats": 1e-6}},
}
"""Overrides with which what a preset holds changes within a short training."""
DAMPINGS: dict[str, dict[str, object]] = {
    **{name: {"preset": name} | MOVING.get(name, {}) for name in DAMPING_PRESETS.names},
    "each round": {"preset": "ppo-clip-kl", "reference": "round-snapshot"},
    "league": {"reference": "league"},
    "uniform, itself": {"preset": "none", "reference": "uniform", "beta": {"initial": 0.1, "decay_decisions": 500}},
}


def through_and_stopped(
    tmp_path: Path, rule: str = "meta-strategy", **ppo: object
) -> tuple[TrainingResult, TrainingResult]:
    """Return the results of a training of three rounds, and of the same one that was stopped nine times."""
    decisions = decisions_of(3, num_seats=2 if rule == "self-play" else 1)
    settings = kuhn_settings(oracle={"decisions": decisions, "learning_rate": 1e-2} | ppo)
    results = []
    for folder in ("through", "stopped"):
        store = open_store(str(tmp_path / folder))
        learner = clone(store, settings)
        opponents = {learner: 1.0} if rule == "self-play" else {RANDOM: 0.5, learner: 0.5}
        prepare(store, settings, 1, "ppo", learner, opponents, rule)
        if folder == "stopped":
            for _ in range(9):
                with asked_to_stop(), pytest.raises(StoppedError):
                    run(store, settings, 1, 0)
        results.append(finished(store, settings, 1))
    through, stopped = results
    assert through.num_updates >= 12
    return through, stopped


def assert_same_bits(one: TrainingResult, other: TrainingResult) -> None:
    assert one.curve == other.curve
    assert (one.policy, one.summary, one.num_decisions) == (other.policy, other.summary, other.num_decisions)


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMPINGS)
def test_training_that_was_stopped_again_and_again_reaches_the_same_bits(tmp_path: Path, name: str) -> None:
    """Through the borders of epochs and rounds; weights, references, controllers and the curve."""
    rule = "self-play" if "itself" in name else "meta-strategy"
    through, stopped = through_and_stopped(tmp_path, rule, damping=DAMPINGS[name])
    assert_same_bits(stopped, through)


@pytest.mark.slow
def test_without_a_critic_a_training_that_was_stopped_again_and_again_reaches_the_same_bits(tmp_path: Path) -> None:
    """Under `group-relative`, whose groups are battles of a round with one situation."""
    through, stopped = through_and_stopped(tmp_path, advantages="group-relative")
    assert_same_bits(stopped, through)
    assert through.summary["grouped_share"] > 0.1


def improved(tmp_path: Path, opponents: dict[PolicyId, float] | None = None, **ppo: object) -> TrainingResult:
    """Return the result of PPO from a clone of the random player."""
    store, settings = open_store(str(tmp_path)), kuhn_settings(oracle=ppo)
    learner = clone(store, settings)
    return trained(store, settings, 1, "ppo", learner, opponents or {RANDOM: 1.0})


def test_a_training_says_which_scripted_policies_it_met(tmp_path: Path) -> None:
    for share, expected in ((0.0, {}), (0.3, {FIRST_ACTION: 0.3})):
        anchors = {"share": share} | ({"policies": [FIRST_ACTION]} if share else {})
        oracle = {"decisions": decisions_of(3, num_seats=2), "pool": {"anchors": anchors}}
        store, settings = open_store(str(tmp_path / str(share))), kuhn_settings(oracle=oracle)
        learner = clone(store, settings)
        result = trained(store, settings, 1, "ppo", learner, {learner: 1.0}, "self-play")
        assert result.scripted_opponents == expected


def values(result: TrainingResult, name: str) -> list[float]:
    return [point.values[name] for point in result.curve]


def test_the_controllers_multiplier_is_composed_with_the_schedule(tmp_path: Path) -> None:
    """The seeds' code wrote the schedule's value over the controller's at each step."""
    damping = {
        "reference": "uniform",
        "preset": "none",
        "beta": {"initial": 0.02, "decay_decisions": 500.0, "target_nats": 1e-9},
    }
    result = improved(tmp_path, decisions=decisions_of(6), learning_rate=2e-3, damping=damping)
    multipliers = values(result, "beta_multiplier")
    assert multipliers[0] == 1.0
    assert multipliers[-1] >= 1.5**2
    scheduled = [point.values["beta_reference"] / point.values["beta_multiplier"] for point in result.curve]
    assert scheduled[0] == 0.02
    assert scheduled == sorted(scheduled, reverse=True)
    assert scheduled[-1] == pytest.approx(0.02 * (1 + result.num_decisions / 500) ** -0.5, rel=0.05)


def test_controllers_wait_for_the_end_of_warm_up(tmp_path: Path) -> None:
    damping = {
        "preset": "adaptive-kl",
        "reference": "uniform",
        "beta": {"warmup_updates": 15, "target_nats": 1e-9},
    }
    result = improved(tmp_path, decisions=decisions_of(7), learning_rate=2e-3, damping=damping)
    early = [point for point in result.curve if point.update < 25]
    assert len(early) == 25
    assert {point.values["beta_multiplier"] for point in early} == {1.0}
    for point in early:
        assert point.values["beta_reference"] == pytest.approx(0.02 * min(1, point.update / 15))
    assert values(result, "beta_multiplier")[-1] > 1.0


def test_a_policy_that_moves_too_fast_has_its_step_size_halved(tmp_path: Path) -> None:
    result = improved(
        tmp_path,
        decisions=decisions_of(6),
        learning_rate=2e-3,
        annealing={"learning_rate": 1.0},
        damping={"preset": "none", "step_target_nats": 1e-7},
    )
    rates = values(result, "learning_rate")
    assert result.rollbacks == 0
    assert rates[0] == pytest.approx(2e-3)
    assert rates[-1] == pytest.approx(2e-3 / 4)


@pytest.mark.slow
def test_every_reference_names_its_source_and_begins_at_0_where_it_should(tmp_path: Path) -> None:
    expected = {"snapshot": True, "ema": True, "portfolio": True, "uniform": False, "league": False}
    for kind, is_start in expected.items():
        result = improved(tmp_path / kind, damping={"preset": "none", "reference": kind, "beta": {"initial": 0.1}})
        gauges = values(result, "kl_reference")
        assert result.reference.partition(":")[0] == kind
        assert (gauges[0] == 0.0) == is_start, kind
        assert gauges[1] > 0
        assert values(result, "kl_round_start")[0] == 0.0
    assert result.reference == "league:uniform=1"


def test_a_snapshot_of_each_round_is_where_the_round_began(tmp_path: Path) -> None:
    damping = {"preset": "ppo-clip-kl", "reference": "round-snapshot"}
    result = improved(tmp_path, decisions=decisions_of(4), learning_rate=1e-2, damping=damping)
    assert values(result, "kl_reference") == pytest.approx(values(result, "kl_round_start"), abs=1e-6)
    assert values(result, "kl_iteration_start")[-1] > 2 * values(result, "kl_reference")[-1]


def test_the_gauges_of_later_rounds_are_from_the_round_and_from_the_iteration(tmp_path: Path) -> None:
    result = improved(tmp_path, decisions=decisions_of(4), learning_rate=1e-2)
    at_border = [point.values for point in result.curve if point.update and point.values["kl_round_start"] < 1e-9]
    assert len(at_border) == 3, "each further round begins where its battles were played"
    assert all(v["kl_iteration_start"] > 1e-5 for v in at_border)
    assert all(v["critic_rank"] >= 1 for v in at_border), "measured at the end of the round before"
    assert result.num_decisions > 3.5 * 200
    assert result.summary["entropy_at_start"] == pytest.approx(0.69, abs=0.01), "of the iteration"


@pytest.mark.slow
def test_more_rounds_are_a_better_response(tmp_path: Path) -> None:
    """A learning run: from the clone's payoff to most of what a best response to uniform gets."""
    payoffs = []
    for decisions in (1, 5000):
        store = open_store(str(tmp_path / str(decisions)))
        ppo = {"decisions": decisions, "learning_rate": 3e-3, "num_epochs": 4, "damping": {"preset": "none"}}
        settings = kuhn_settings(battles=400, oracle=ppo)
        result = trained(store, settings, 1, "ppo", clone(store, settings), {RANDOM: 1.0})
        tables = [load_table(store, policy, KUHN) for policy in (result.policy, RANDOM)]
        payoffs.append(expected_payoffs(KUHN, tables)[0, 1])
    assert payoffs[0] < payoffs[1]
    assert payoffs[1] > 0.4, "the best response gets 0.458"


def test_schedules_may_go_on_from_the_iterations_before(tmp_path: Path) -> None:
    beta = {"initial": 0.1, "decay_decisions": 100.0}
    damping = {"preset": "none", "reference": "uniform", "beta": beta}
    for clock in ("run", "iteration"):
        store = open_store(str(tmp_path / clock))
        settings = kuhn_settings(oracle={"damping": {**damping, "clock": clock}})
        learner = clone(store, settings)
        first = trained(store, settings, 1, "ppo", learner, {RANDOM: 1.0})
        second = trained(store, settings, 2, "ppo", first.policy, {RANDOM: 1.0})
        assert (first.num_run_updates, second.num_run_updates) == (
            first.num_updates,
            first.num_updates + second.num_updates,
        )
        assert second.num_run_decisions == first.num_decisions + second.num_decisions
        before = first.num_decisions if clock == "run" else 0
        assert values(first, "beta_reference")[0] == 0.1
        assert values(second, "beta_reference")[0] == pytest.approx(0.1 / (1 + before / 100) ** 0.5)


@contextmanager
def rounds_of(
    store: ObjectStore, rule: str, opponents: dict[PolicyId, float], game: type[TabularGame] = TabularGame
) -> Iterator[tuple[Rounds, Training]]:
    """Yield rounds of 200 battles of a clone, and its training. ``learner`` among the opponents means the clone."""
    settings = kuhn_settings()
    learner = clone(store, settings)
    opponents = {learner if policy == "learner" else policy: share for policy, share in opponents.items()}
    plan = IterationPlan(
        iteration=1,
        oracle="ppo",
        population=Population(policies=()),
        rule=rule,
        opponents=opponents,
        learner=learner,
    )
    network = load_network(store, BarePolicyId(learner), tabular_game_of_run(store, settings).space)
    checkpoints = Checkpoints(store, 1, 0, AttemptId("attempt"), "inputs")
    training = Training(network, StepSettings(0.5, checkpoint_every_updates=1000), checkpoints)
    pool = PoolSettings(share=0.0)
    with closing(LocalPlayer(store, game(KUHN), Sizes(gateways=1, concurrent_battles=400, reason="as set"))) as player:
        of_a_round = RoundsSettings(0, 200, 60.0, pool, records_opponents=False)
        yield Rounds(training, player, SnapshotPool(training, pool), of_a_round, plan), training


def test_a_learner_that_meets_itself_learns_from_both_seats(tmp_path: Path) -> None:
    with rounds_of(open_store(str(tmp_path)), "self-play", {PolicyId("learner"): 1.0}) as (rounds, training):
        episodes = rounds.play().episodes
        assert [e.seat for e in episodes] == [0, 1] * 200
        assert {(e.policy, e.opponent) for e in episodes} == {(NEWEST, NEWEST)}
        assert {first.score + second.score for first, second in zip(episodes[::2], episodes[1::2], strict=True)} == {1}
        again = rounds.play().episodes
        training.begin_round(1.0, 400)
        other = rounds.play().episodes
    assert [e.seed for e in again] == [e.seed for e in episodes] != [e.seed for e in other]
    assert [e.actions.tolist() for e in again] == [e.actions.tolist() for e in episodes]


def test_against_a_mixture_only_the_learner_is_recorded_and_its_old_self_is_another(tmp_path: Path) -> None:
    opponents = {RANDOM: 0.5, PolicyId("learner"): 0.5}
    with rounds_of(open_store(str(tmp_path)), "meta-strategy", opponents) as (rounds, _):
        episodes = rounds.play().episodes
    assert len(episodes) == 200
    assert [e.seat for e in episodes[:4]] == [0, 1, 0, 1]
    met = Counter(e.opponent for e in episodes)
    assert len(met) == 2
    assert RANDOM in met
    assert NEWEST not in met
    assert min(met.values()) > 60


@dataclass(frozen=True)
class Unplayable(TabularGame):
    """A game whose arena needs what this machine lacks."""

    def open_arena(self, *, num_gateways: int) -> Arena:  # type: ignore[override]
        raise ConfigurationError(f"{num_gateways} gateways need Node, and there is none here")


def test_rounds_where_the_game_cannot_be_played_are_a_wrong_setting(tmp_path: Path) -> None:
    opponents = {PolicyId("learner"): 1.0}
    with (
        rounds_of(open_store(str(tmp_path)), "self-play", opponents, Unplayable) as (rounds, _),
        pytest.raises(ConfigurationError, match=r"there is none here; set actors\.shards above 0"),
    ):
        rounds.play()


def test_the_stored_table_is_the_networks(tmp_path: Path) -> None:
    store, settings = open_store(str(tmp_path)), kuhn_settings()
    policy = clone(store, settings)
    network = load_network(store, BarePolicyId(policy), tabular_game_of_run(store, settings).space)
    assert load_table(store, policy, KUHN) == pytest.approx(network_table(network, KUHN))
