"""Battles whose deadline passes while the client does something else: the gateway's word of it meets the client's."""

import time
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import BattleSpec, Decisions, Failure, RunningBattle
from nashdex.games.registry import game_for
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.showdown.gateway import GatewaySettings
from nashdex.policies.interface import Actions, Policy
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Rollout, require_finished

pytestmark = [pytest.mark.integration, pytest.mark.slow]

FORMAT = "gen1randombattle"
DEADLINE_SECONDS = 5.0
RANDOM = PolicyId("random")


@pytest.fixture
def arena() -> Iterator[ShowdownArena]:
    with closing(ShowdownArena(FORMAT, num_gateways=1, settings=GatewaySettings(hang_seconds=300.0))) as opened:
        yield opened


def _next(arena: ShowdownArena) -> Decisions:
    while True:
        events = arena.poll()
        if events.decisions:
            return Decisions.joined(events.decisions)


def _answer(arena: ShowdownArena, decisions: Decisions) -> None:
    firsts = [decisions.legal[row][0] for row in range(len(decisions))]
    arena.act(decisions.battle, decisions.seat, np.array(firsts, dtype=np.int64))


def test_a_failed_battles_decisions_are_not_due(arena: ShowdownArena) -> None:
    deadlines = [DEADLINE_SECONDS, 300.0]
    specs = [BattleSpec(n, team_seeds=(1, 2), deadline_seconds=deadline) for n, deadline in enumerate(deadlines)]
    arena.start([RunningBattle(n, spec) for n, spec in enumerate(specs)])
    _answer(arena, _next(arena))
    (worker,) = arena._workers
    worker.flush()
    time.sleep(DEADLINE_SECONDS + 0.5)
    events = arena.poll()
    assert [(failure.battle, failure.cause) for failure in events.failures] == [(0, "deadline")]
    assert set(Decisions.joined(events.decisions).battle.tolist()) == {1}
    _answer(arena, Decisions.joined(events.decisions))
    assert worker.owes_answer, "a gateway that hangs with the other battle is replaced"


class _GivesUp:
    """Plays as ``policy`` does; its third answer comes after the battle's deadline, and is none."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._num_answers = 0
        self.id = PolicyId("gives-up")
        self.needs_lines = policy.needs_lines
        self.needs_state = policy.needs_state
        self.view = policy.view

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        answers = self._policy.act(decisions, uniforms)
        self._num_answers += 1
        if self._num_answers != 3:
            return answers
        time.sleep(DEADLINE_SECONDS + 0.5)
        battle = int(decisions.battle[0])
        return Actions(answers.action, answers.log_prob, {battle: Failure(battle, "no_answer", "on purpose")})

    def forget(self, battle: int, seat: int) -> None:
        self._policy.forget(battle, seat)


def test_a_battle_that_was_given_up_after_its_deadline_is_played_again_once(arena: ShowdownArena) -> None:
    policy = scripted_policy(RANDOM, arena.space)
    policies: dict[PolicyId, Policy] = {RANDOM: policy, PolicyId("gives-up"): _GivesUp(policy)}
    battles = PairedBattles(5, game_for(FORMAT).teams(), deadline_seconds=DEADLINE_SECONDS)
    rollout = Rollout(arena, policies, concurrent_battles=1)
    (played,) = rollout.play([battles.assignment(0, (PolicyId("gives-up"), RANDOM))])
    assert require_finished(played).turns > 0
    assert rollout.counts.failures["no_answer"] == 1
