"""The gate: whether a new policy joins the population."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.evaluator.gate import in_order, judge, play_gate, run
from nashdex.games.interface import Events
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.metagame.tournament.gate import GATE_RESULT, GateDecision, GateResult, SequentialTest, admitted
from nashdex.policies.tables import load_table, save_table_policy
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_from_shards, read_written
from nashdex.store.protocol import ObjectStore
from support.arenas import CardArena, CardGame

RANDOM, FIRST_ACTION = PolicyId("random"), PolicyId("first-action")
"""In the card game the first legal action is the worst."""
KUHN = RunSettings.model_validate(
    {"format": "kuhn_poker", "population": {"initial": ["random"]}, "gate": {"test": "sprt"}, "train": {"seeds": 3}}
)


def _settings(concurrent_battles: int = 8, **gate: float) -> RunSettings:
    arena = {"concurrent_battles": concurrent_battles}
    return RunSettings.model_validate({"seed": 3, "gate": {"test": "sprt", **gate}, "arena": arena})


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def _results(*scores: float) -> Iterator[tuple[int, float]]:
    yield from enumerate(scores)


def test_a_winner_is_accepted_and_a_loser_rejected_after_a_few_pairs() -> None:
    accepted = judge(SequentialTest(), _results(*[1.0] * 100))
    rejected = judge(SequentialTest(), _results(*[0.0] * 100))
    assert (accepted.state.decision, rejected.state.decision) == ("accept", "reject")
    assert 0 < accepted.scores[1.0] < 100
    assert 0 < rejected.scores[0.0] < 100


def test_even_results_decide_nothing_while_there_are_few() -> None:
    verdict = judge(SequentialTest(), _results(*[1.0, 0.0, 0.5, 0.5] * 5))
    assert verdict.state.decision == "continue"
    assert verdict.scores == {1.0: 5, 0.0: 5, 0.5: 10}
    assert sum(verdict.pair_scores) == verdict.scores.total() / 2


def test_half_a_pair_is_not_looked_at() -> None:
    verdict = judge(SequentialTest(), _results(1.0, 1.0, 1.0))
    assert (verdict.state.num_looks, verdict.scores.total()) == (1, 2)


def test_no_result_is_asked_for_after_the_decision() -> None:
    asked = itertools.count()
    verdict = judge(SequentialTest(), ((number, 1.0) for number in asked))
    assert next(asked) == verdict.scores.total()


@pytest.mark.parametrize("seed", range(5))
def test_the_decision_does_not_depend_on_the_order_of_arrival(seed: int) -> None:
    generator = random.Random(seed)
    scores = [generator.choices((1.0, 0.5, 0.0), (0.6, 0.1, 0.3))[0] for _ in range(400)]
    straight = judge(SequentialTest(), _results(*scores))
    assert straight.state.decision != "continue"
    waiting, arrived = list(enumerate(scores)), []
    while waiting:
        arrived.append(waiting.pop(generator.randrange(min(64, len(waiting)))))
    assert judge(SequentialTest(), arrived) == straight


def test_in_order_waits_for_what_is_missing() -> None:
    assert list(in_order([(1, 0.1), (2, 0.2), (0, 0.0), (4, 0.4)])) == [0.0, 0.1, 0.2]


@pytest.mark.parametrize(
    ("policy", "parent", "decision"), [(RANDOM, FIRST_ACTION, "accept"), (FIRST_ACTION, RANDOM, "reject")]
)
def test_plays_until_the_test_has_decided(
    store: ObjectStore, policy: PolicyId, parent: PolicyId, decision: GateDecision
) -> None:
    game = CardGame()
    result = play_gate(store, _settings(), game, policy, parent, 0)
    assert (result.policy, result.parent, result.decision) == (policy, parent, decision)
    assert 0 < result.battles < 100
    assert result.battles % 2 == 0
    assert result.accept_bound is not None
    assert result.log_evidence_against_low is not None
    assert (result.log_evidence_against_low >= result.accept_bound) == (decision == "accept")
    assert game.arenas[0].is_closed


@pytest.mark.parametrize("max_battles", [2, 6])
def test_battles_that_run_out_leave_it_undecided(store: ObjectStore, max_battles: int) -> None:
    result = play_gate(store, _settings(max_battles=max_battles), CardGame(), RANDOM, FIRST_ACTION, 0)
    assert (result.decision, result.battles) == ("undecided", max_battles)


def test_the_result_does_not_depend_on_how_many_battles_run_at_once(store: ObjectStore) -> None:
    results = [
        play_gate(store, _settings(concurrent_battles=number), CardGame(), RANDOM, FIRST_ACTION, 0)
        for number in (1, 3, 64)
    ]
    assert results[0] == results[1] == results[2]


class _DyingArena(CardArena):
    """Is gone after a few polls."""

    def __init__(self, polls: int) -> None:
        super().__init__()
        self._polls_left = polls

    def poll(self) -> Events:
        self._polls_left -= 1
        if self._polls_left < 0:
            raise TryAgainError("the gateway is gone; try again")
        return super().poll()


class _DyingGame(CardGame):
    def open_arena(self, *, num_gateways: int) -> CardArena:
        del num_gateways
        self.arenas.append(_DyingArena(5) if not self.arenas else CardArena())
        return self.arenas[-1]


def test_a_gate_that_dies_comes_to_the_same_decision_when_it_is_tried_again(store: ObjectStore) -> None:
    game = _DyingGame()
    with pytest.raises(TryAgainError):
        play_gate(store, _settings(), game, RANDOM, FIRST_ACTION, 0)
    assert game.arenas[0].is_closed
    again = play_gate(store, _settings(), game, RANDOM, FIRST_ACTION, 0)
    assert again == play_gate(store, _settings(), CardGame(), RANDOM, FIRST_ACTION, 0)


def _train(
    store: ObjectStore, shard: int, policy: PolicyId, parent: PolicyId | None, oracle: str = "ppo"
) -> TrainingResult:
    result = TrainingResult(
        policy=policy,
        kind="network",
        name="best response",
        parent=parent,
        oracle=oracle,
        num_updates=0,
        num_run_updates=0,
        num_decisions=0,
        num_parameters=0,
        rollbacks=0,
        curve=(),
        summary={},
        seconds=0.0,
    )
    attempt = Attempt(store, 1, StepName.TRAIN, shard)
    attempt.write(TRAINING_RESULT, result.to_json())
    attempt.finish({})
    return result


def test_of_a_tabular_game_the_exact_payoff_decides_and_the_rejected_stay_out(store: ObjectStore) -> None:
    tree = openspiel_tree("kuhn_poker")
    always_pass = load_table(store, FIRST_ACTION, tree)
    uniform = load_table(store, RANDOM, tree)
    half = save_table_policy(
        store,
        tree,
        np.asarray((always_pass + uniform) / 2),
        name="half",
        parent=BarePolicyId(RANDOM),
        iteration=1,
        oracle="ppo",
    )
    trained = [
        _train(store, 0, half, FIRST_ACTION),
        _train(store, 1, FIRST_ACTION, half),
        _train(store, 2, RANDOM, None, oracle="clone"),
    ]
    manifests = [run(store, KUHN, 1, shard) for shard in range(3)]
    results = read_from_shards(store, 1, StepName.GATE, KUHN.num_gates, GATE_RESULT, GateResult)
    assert [result.battles for result in results] == [0, 0, 0]
    assert [result.decision for result in results] == ["accept", "reject", "exempt"]
    assert results[0].payoff is not None
    assert results[0].payoff > 0, "somebody who bets now and then beats always-pass"
    assert [result.policy for result in admitted(trained, results)] == [half, RANDOM]
    assert run(store, KUHN, 1, 0) == manifests[0], "a second time it only says that it is done"


def test_equals_are_not_accepted_on_exact_payoffs(store: ObjectStore) -> None:
    tree = openspiel_tree("kuhn_poker")
    uniform = load_table(store, RANDOM, tree)
    copy = save_table_policy(store, tree, uniform, name="copy", parent=BarePolicyId(RANDOM), iteration=1, oracle="ppo")
    _train(store, 0, copy, RANDOM)
    result = read_written(store, run(store, KUHN, 1, 0), GATE_RESULT, GateResult)
    assert (result.payoff, result.decision) == (0.0, "reject")


def test_a_policy_that_training_gave_back_needs_no_gate(store: ObjectStore) -> None:
    _train(store, 0, RANDOM, RANDOM)
    result = read_written(store, run(store, KUHN, 1, 0), GATE_RESULT, GateResult)
    assert (result.decision, result.battles) == ("exempt", 0)


def test_names_the_step_that_must_run_first(store: ObjectStore) -> None:
    with pytest.raises(DataError, match=r"nashdex step train .*--shard 2"):
        run(store, KUHN, 1, 2)


def test_only_the_rejected_stay_out(store: ObjectStore) -> None:
    trained = [_train(store, shard, PolicyId(name), RANDOM) for shard, name in enumerate("abcd")]
    decisions: list[GateDecision] = ["accept", "reject", "undecided", "exempt"]
    gates = [
        GateResult(policy=result.policy, parent=RANDOM, decision=decision)
        for result, decision in zip(trained, decisions, strict=True)
    ]
    assert [result.policy for result in admitted(trained, gates)] == ["a", "c", "d"]
    assert list(admitted(trained, reversed(gates))) == list(admitted(trained, gates))
    assert list(admitted(trained, [])) == trained
