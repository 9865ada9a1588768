"""The stopwatch: it changes nothing, and sees every decision once."""

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Arena
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import PlayedBattle, Rollout, require_finished
from nashdex_bench.collect.self_play import Stopwatch
from support.arenas import CardArena, UniformPolicy

A = PolicyId("a")


def _play(arena: Arena) -> tuple[Rollout, list[PlayedBattle]]:
    battles = PairedBattles(1, [], deadline_seconds=9.0)
    rollout = Rollout(arena, {A: UniformPolicy("a")}, concurrent_battles=4)
    return rollout, list(rollout.play(battles.assignment(n, (A, A), record=True) for n in range(20)))


def test_every_decision_has_its_latency_and_play_is_the_same() -> None:
    stopwatch = Stopwatch(CardArena(), num_gateways=1)
    rollout, finished = _play(stopwatch)
    _, expected = _play(CardArena())
    assert [require_finished(f) for f in finished] == [require_finished(f) for f in expected]
    latencies = stopwatch.latencies_seconds()
    asked_again = len(latencies) - rollout.counts.decisions
    assert 0 <= asked_again <= 40, "those that were asked again are answered twice"
    assert (latencies > 0).all()
    assert len(stopwatch.latencies_seconds(since=stopwatch.num_turns)) == 0
    assert stopwatch.gateways_waited_seconds >= np.unique(latencies).sum() * 0.99


def test_with_two_gateways_each_waits_half_as_long_for_what_one_of_them_asked() -> None:
    stopwatch = Stopwatch(CardArena(), num_gateways=2)
    _play(stopwatch)
    turns = np.unique(stopwatch.latencies_seconds())
    np.testing.assert_allclose(stopwatch.gateways_waited_seconds, turns.sum() / 2, rtol=0.01)
