"""A gateway over TCP, such as a pod's sidecar."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Timer
from typing import Any
from urllib.request import urlopen

import psutil
import pytest

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import RunningBattle
from nashdex.games.registry import game_for
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.showdown.battle import Battle
from nashdex.games.showdown.gateway import Gateway, GatewaySettings, find_node
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Rollout, require_finished
from support.ports import free_port

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
NUM_BATTLES = 6
START_SECONDS = 600
RANDOM, MAX_POWER = PolicyId("random"), PolicyId("max-power")


def _start(port: int, *arguments: str) -> subprocess.Popen[str]:
    settings = GatewaySettings()
    entry = settings.directory / "src" / "gateway.js"
    command = [find_node(settings), str(entry), "--listen", f"127.0.0.1:{port}", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def _stop(process: subprocess.Popen[str]) -> None:
    """Kill it with its children, as a container's end does."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=300)


@contextmanager
def _listening(port: int, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = _start(port, *arguments)
    try:
        yield process
    finally:
        _stop(process)


def _play(arena: ShowdownArena, after_the_first: Callable[[], None] | None = None) -> dict[int, tuple[Any, ...]]:
    battles = PairedBattles(5, game_for(FORMAT).teams(), deadline_seconds=200.0)
    policies = {policy: scripted_policy(policy, arena.space) for policy in (RANDOM, MAX_POWER)}
    rollout = Rollout(arena, policies, concurrent_battles=NUM_BATTLES)
    found: dict[int, tuple[Any, ...]] = {}
    for finished in rollout.play(battles.assignment(n, (RANDOM, MAX_POWER), record=True) for n in range(NUM_BATTLES)):
        if not found and after_the_first is not None:
            after_the_first()
        outcome = require_finished(finished)
        found[finished.assignment.number] = (outcome.winner, outcome.turns, finished.episodes[0].actions.tolist())
    return found


@pytest.mark.slow
def test_a_client_waits_for_a_gateway_that_listens_later() -> None:
    port = free_port()
    started: list[subprocess.Popen[str]] = []
    timer = Timer(1.0, lambda: started.append(_start(port)))
    timer.start()
    try:
        gateway = Gateway(FORMAT, GatewaySettings(address=f"127.0.0.1:{port}", start_seconds=START_SECONDS))
        assert gateway.space.format == FORMAT
        gateway.close()
    finally:
        timer.join()
        _stop(started[0])


def test_a_client_gives_up_a_gateway_that_never_listens() -> None:
    address = f"127.0.0.1:{free_port()}"
    began_seconds = time.monotonic()
    with pytest.raises(
        TryAgainError, match=rf"no gateway answers at {address} within 1 s \(Connection refused\); start"
    ):
        Gateway(FORMAT, GatewaySettings(address=address, start_seconds=1))
    assert time.monotonic() - began_seconds >= 1


def test_a_client_gives_up_a_gateway_that_accepts_and_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TryAgainError, match="the gateway sent no Welcome within 1 s"):
            Gateway(FORMAT, GatewaySettings(address=address, start_seconds=1))


def test_an_invalid_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", "localhost")
    with pytest.raises(ConfigurationError, match=r"NASHDEX_GATEWAY_….*address"):
        Gateway(FORMAT)


@pytest.mark.slow
def test_battles_go_on_when_the_listener_is_killed_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", f"127.0.0.1:{port}")
    monkeypatch.setenv("NASHDEX_GATEWAY_START_SECONDS", str(START_SECONDS))
    listeners = [_start(port)]

    def replace() -> None:
        _stop(listeners[0])
        listeners.append(_start(port))

    try:
        arena = ShowdownArena(FORMAT, num_gateways=1)
        undisturbed = _play(arena)
        found = _play(arena, replace)
        arena.close()
    finally:
        for listener in listeners:
            _stop(listener)
    assert found == undisturbed


@pytest.mark.slow
def test_battles_go_on_after_a_silence_that_ended_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", f"127.0.0.1:{port}")
    with _listening(port, "--idle-seconds", "10") as process:
        arena = ShowdownArena(FORMAT, num_gateways=1)
        undisturbed = _play(arena)
        while psutil.Process(process.pid).children():
            time.sleep(0.1)
        assert _play(arena) == undisturbed
        arena.close()


@pytest.mark.slow
def test_planned_battles_go_on_at_a_gateway_that_asks_to_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", f"127.0.0.1:{port}")
    with _listening(port, "--max-heap-mb", "1"), closing(Gateway(FORMAT)) as gateway:
        for number in range(2):  # It asks after the first.
            battle = Battle.start(gateway, seed=number, number=number)
            while battle.result is None:
                time.sleep(0.01)
                battle.act({seat: int(decision.legal[0]) for seat, decision in battle.decisions.items()})


@pytest.mark.slow
def test_a_gateway_that_dies_after_its_replacement_is_not_replaced_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", f"127.0.0.1:{port}")
    battles = PairedBattles(5, game_for(FORMAT).teams(), deadline_seconds=200.0)
    specs = [battles.assignment(n, (RANDOM, RANDOM)).spec for n in range(2)]
    with _listening(port, "--max-heap-mb", "1") as process:
        arena = ShowdownArena(FORMAT, num_gateways=1)
        arena.start([RunningBattle(0, specs[0], draws=(1, 2)), RunningBattle(1, specs[1])])
        (own_process,) = psutil.Process(process.pid).children()
        while len(arena._workers) == 1:  # until the first battle ends, and the gateway asks to be replaced
            assert not arena.poll().failures
        own_process.kill()
        while not (failures := arena.poll().failures):
            pass
        assert [(failure.battle, failure.cause) for failure in failures] == [(1, "gateway_died")]
        assert len(arena._workers) == 1
        arena.close()


@pytest.mark.slow
def test_a_listening_gateway_reports_its_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", f"127.0.0.1:{port}")
    with _listening(port) as process:
        arena = ShowdownArena(FORMAT, num_gateways=1)
        assert arena.cpu_seconds() == 0
        _play(arena)
        reported = arena.cpu_seconds()
        (own_process,) = psutil.Process(process.pid).children()
        times = own_process.cpu_times()
        arena.close()
    measured = times.user + times.system  # in hundredths
    assert measured / 2 < reported < measured + 0.03
    assert arena.cpu_seconds() == reported, "after the end as well"


def test_probes_are_answered_and_start_no_simulator() -> None:
    port, health_port = free_port(), free_port()
    with _listening(port, "--health", f"127.0.0.1:{health_port}") as process:
        Gateway(FORMAT, GatewaySettings(address=f"127.0.0.1:{port}", start_seconds=START_SECONDS)).close()
        with urlopen(f"http://127.0.0.1:{health_port}/healthz", timeout=300) as response:
            assert response.status == 200
        process.send_signal(signal.SIGTERM)
        _, logs = process.communicate(timeout=300)
        assert process.returncode == 0
        assert len(re.findall('"client connected"', logs)) == 1
