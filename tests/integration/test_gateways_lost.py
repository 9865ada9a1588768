"""Gateways that die or hang in the middle of their battles: replaced, and every battle played again as it was."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from typing import TypeAlias

import numpy as np
import prometheus_client
import psutil
import pytest
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions, RunningBattle
from nashdex.games.registry import game_for
from nashdex.games.showdown.arena import FAILURE_CAUSES, ShowdownArena
from nashdex.games.showdown.gateway import Gateway, GatewaySettings
from nashdex.policies.interface import Actions, Policy
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Rollout, require_finished
from nashdex.telemetry.metric import identify_process
from support.processes import command_line

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
NUM_BATTLES = 8
_End: TypeAlias = tuple[int | None, int, list[int]]
"""Winner, turns and the recorded seat's actions."""
RANDOM, MAX_POWER = PolicyId("random"), PolicyId("max-power")


class _Eventful:
    """Plays as ``policy`` does; at its fifth batch, when no battle can be over, ``happens`` is called once."""

    def __init__(self, policy: Policy, happens: Callable[[], None]) -> None:
        self._policy = policy
        self._happens = happens
        self._num_batches = 0
        self.id = policy.id
        self.needs_lines = policy.needs_lines
        self.needs_state = policy.needs_state
        self.view = policy.view

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        self._num_batches += 1
        if self._num_batches == 5:
            self._happens()
        return self._policy.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        self._policy.forget(battle, seat)


def _play(arena: ShowdownArena, happens: Callable[[], None] = lambda: None) -> tuple[Rollout, dict[int, _End]]:
    """Play all battles; return how each ended."""
    battles = PairedBattles(5, game_for(FORMAT).teams(), deadline_seconds=200.0)
    policies: dict[PolicyId, Policy] = {policy: scripted_policy(policy, arena.space) for policy in (RANDOM, MAX_POWER)}
    policies[RANDOM] = _Eventful(policies[RANDOM], happens)
    rollout = Rollout(arena, policies, concurrent_battles=NUM_BATTLES)
    assignments = (battles.assignment(n, (RANDOM, MAX_POWER), record=True) for n in range(NUM_BATTLES))
    found = list(rollout.play(assignments))
    assert Counter(f.assignment.number for f in found) == Counter(range(NUM_BATTLES))
    return rollout, {
        f.assignment.number: (require_finished(f).winner, require_finished(f).turns, f.episodes[0].actions.tolist())
        for f in found
    }


def _a_gateway() -> int:
    """Return the process id of a gateway. There are more battles than gateways, so that each has some."""
    return max(child.pid for child in psutil.Process().children() if "gateway.js" in command_line(child))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "cause", "hang_seconds"),
    [
        (signal.SIGKILL, "gateway_died", 300.0),  # on a busy machine the other gateway may be silent for long
        (signal.SIGSTOP, "gateway_hung", 5.0),
    ],
    ids=["dies", "hangs"],
)
def test_battles_of_a_lost_gateway_are_played_again_to_the_same_end(
    number: int, cause: str, hang_seconds: float
) -> None:
    lost: list[int] = []

    def hit() -> None:
        lost.append(_a_gateway())
        os.kill(lost[0], number)

    settings = GatewaySettings(hang_seconds=hang_seconds)
    with closing(ShowdownArena(FORMAT, num_gateways=2, settings=settings)) as arena:
        _, undisturbed = _play(arena)
        rollout, found = _play(arena, hit)
        assert not psutil.pid_exists(lost[0]), "nothing is left of it"
    assert set(rollout.counts.failures) == {cause}
    assert rollout.counts.failures[cause] > 0
    assert found == undisturbed
    assert rollout.counts.battles == NUM_BATTLES


@pytest.mark.slow
def test_gateways_outlive_a_machine_that_is_suspended() -> None:
    gateways: list[int] = []

    def suspend() -> None:
        """Stop all processes at once: this one only sleeps."""
        gateways.extend(child.pid for child in psutil.Process().children() if "gateway.js" in command_line(child))
        for gateway in gateways:
            os.kill(gateway, signal.SIGSTOP)
        time.sleep(20.0)
        for gateway in gateways:
            os.kill(gateway, signal.SIGCONT)

    with closing(ShowdownArena(FORMAT, num_gateways=2, settings=GatewaySettings(hang_seconds=10.0))) as arena:
        rollout, _ = _play(arena, suspend)
        assert len(gateways) == 2
        assert all(psutil.pid_exists(gateway) for gateway in gateways)
    assert not rollout.counts.failures


def test_a_battle_that_was_stopped_does_not_fail_with_its_lost_gateway() -> None:
    battles = PairedBattles(5, game_for(FORMAT).teams(), deadline_seconds=200.0)
    running = [RunningBattle(n, battles.assignment(n, (RANDOM, RANDOM)).spec) for n in range(2)]

    def open_seats(arena: ShowdownArena, num: int) -> list[int]:
        """Return the battles of ``num`` decisions; none may fail."""
        found: list[int] = []
        while len(found) < num:
            events = arena.poll()
            assert not events.failures
            for decisions in events.decisions:
                found += decisions.battle.tolist()
        return found

    with closing(ShowdownArena(FORMAT, num_gateways=2)) as arena:
        arena.start(running)
        open_seats(arena, 4)
        lost = _a_gateway()
        os.kill(lost, signal.SIGKILL)
        while psutil.pid_exists(lost):
            assert not arena.poll().failures, "the next poll would report it"
        for battle in range(2):
            arena.stop(battle, 2)
        arena.start(running)
        assert sorted(open_seats(arena, 4)) == [0, 0, 1, 1]


@pytest.mark.parametrize("ends", [Gateway.kill, Gateway.close], ids=["killed", "closed"])
def test_the_cpu_time_of_a_lost_gateway_stays_counted(ends: Callable[[Gateway], None]) -> None:
    gateway = Gateway(FORMAT)
    spent = gateway.cpu_seconds()
    ends(gateway)
    assert gateway.cpu_seconds() >= spent > 0


def test_a_gateways_latency_is_told_and_causes_are_counted_from_0() -> None:
    identify_process(run="run-1", component="collect", format=FORMAT)
    began = time.monotonic()
    with closing(ShowdownArena(FORMAT, num_gateways=1)) as one:
        rollout, _ = _play(one)
    wall_seconds = time.monotonic() - began
    labels = {"run": "run-1", "component": "collect", "format": FORMAT}
    sample = prometheus_client.REGISTRY.get_sample_value
    batches, seconds = (sample(f"nashdex_gateway_seconds_{part}", labels) for part in ("count", "sum"))
    assert batches is not None
    assert seconds is not None
    assert rollout.counts.decisions / (2 * NUM_BATTLES) <= batches <= rollout.counts.decisions
    assert 0 < seconds < wall_seconds
    assert {cause: sample("nashdex_failed_battles_total", labels | {"cause": cause}) for cause in FAILURE_CAUSES} == (
        dict.fromkeys(FAILURE_CAUSES, 0.0)
    )
