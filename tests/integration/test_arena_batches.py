"""Which decisions share a batch: small batches cost several times as much per decision."""

from contextlib import closing
from dataclasses import replace

import pytest

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Events, Outcome
from nashdex.games.registry import game_for
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Rollout, require_finished

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
NUM_AT_ONCE = 8
RANDOM = PolicyId("random")


class _Watched(ShowdownArena):
    """Records the running battles that a batch leaves out although the previous batch asked for them."""

    def __init__(self) -> None:
        super().__init__(FORMAT, num_gateways=1)
        self.left_out: list[set[int]] = []
        self._asked: set[int] = set()

    def poll(self) -> Events:
        events = super().poll()
        self._asked -= {outcome.battle for outcome in events.outcomes}
        for decisions in events.decisions:
            asked = set(decisions.battle.tolist())
            self.left_out.append(self._asked - asked)
            self._asked = asked
        return events


@pytest.mark.slow
def test_every_batch_asks_for_all_battles_that_go_on() -> None:
    with closing(_Watched()) as arena:
        battles = PairedBattles(3, game_for(FORMAT).teams(), deadline_seconds=200.0)
        rollout = Rollout(arena, {RANDOM: scripted_policy(RANDOM, arena.space)}, concurrent_battles=NUM_AT_ONCE)
        played = list(rollout.play(battles.assignment(n, (RANDOM, RANDOM)) for n in range(5 * NUM_AT_ONCE)))
    assert all(finished.outcome is not None for finished in played)
    assert len(arena.left_out) > NUM_AT_ONCE
    assert not any(arena.left_out)


@pytest.mark.slow
def test_a_battle_is_the_same_whether_gateways_share_batches_or_not() -> None:
    def outcomes(num_gateways: int, *, joins_batches: bool) -> list[Outcome]:
        with closing(ShowdownArena(FORMAT, num_gateways=num_gateways)) as arena:
            battles = PairedBattles(3, game_for(FORMAT).teams(), deadline_seconds=200.0)
            policies = {RANDOM: scripted_policy(RANDOM, arena.space)}
            rollout = Rollout(arena, policies, NUM_AT_ONCE, joins_batches=joins_batches)
            played = list(rollout.play(battles.assignment(n, (RANDOM, RANDOM)) for n in range(2 * NUM_AT_ONCE)))
        played.sort(key=lambda finished: finished.assignment.number)
        return [replace(require_finished(finished), battle=0) for finished in played]

    alone = outcomes(1, joins_batches=False)
    assert len({(outcome.turns, outcome.decisions) for outcome in alone}) > NUM_AT_ONCE
    assert outcomes(2, joins_batches=True) == alone
