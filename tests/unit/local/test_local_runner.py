"""The local runner, with real processes as steps (``programs/scripted_run.py``)."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from nashdex.core.steps import StepName
from nashdex.planning.dag import iteration_steps, num_shards
from nashdex.runs.creation import Run
from nashdex.store.attempt import find_manifest
from nashdex.store.verdict import read_verdict
from support.begun_runs import begin_run

PROGRAM = Path(__file__).parents[2] / "support" / "programs" / "scripted_run.py"
DEADLINE_SECONDS = 300.0


@dataclass
class Driven:
    """A run whose steps are scripted, and the folder through which they are watched."""

    run: Run
    scratch: Path

    def behave(self, **behaviour: dict[str, Any]) -> None:
        named = {name.replace("_", "/"): value for name, value in behaviour.items()}
        (self.scratch / "behaviour.json").write_text(json.dumps(named))

    def start(self) -> "subprocess.Popen[str]":
        command = [sys.executable, str(PROGRAM), "drive", self.run.store.uri, str(self.scratch)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self) -> tuple[int, str, str]:
        process = self.start()
        out, err = process.communicate(timeout=DEADLINE_SECONDS)
        return process.returncode, out, err

    def tries(self, shard: str) -> int:
        folder = self.scratch / "tries" / shard
        return len(list(folder.iterdir())) if folder.exists() else 0

    def pids(self) -> list[int]:
        return [int(path.name) for path in (self.scratch / "pids").iterdir()]

    def living(self) -> list[int]:
        return [pid for pid in self.pids() if _lives(pid)]

    def missing(self) -> list[tuple[int, StepName, int]]:
        return [
            (iteration, step.name, shard)
            for iteration in range(self.run.settings.iterations)
            for step in iteration_steps(self.run.settings)
            for shard in range(num_shards(self.run.settings, step.name))
            if find_manifest(self.run.store, iteration, step.name, shard) is None
        ]


@pytest.fixture
def driven(tmp_path: Path, request: pytest.FixtureRequest) -> Driven:
    """Return a run of one iteration with two shards of collect, or with the settings that the test asks for."""
    config = tmp_path / "scripted.toml"
    settings = getattr(request, "param", "iterations = 1")
    short = "[collect]\nshards = 2\n[evaluate]\nshards = 1\n[actors]\nshards = 0\n"
    config.write_text(f'format = "gen1randombattle"\n{settings}\n{short}')
    (tmp_path / "pids").mkdir()
    result = Driven(begin_run(str(tmp_path / "store"), config), tmp_path)
    result.behave()
    return result


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _wait_until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("driven", ["iterations = 2"], indirect=True)
def test_does_every_shard_of_every_iteration_in_order(driven: Driven) -> None:
    code, out, err = driven.finish()
    assert (code, err) == (0, "")
    assert driven.missing() == []
    steps = [line.split(":")[0] for line in out.splitlines() if "done in" in line]
    assert steps == [
        f"iteration {iteration} {step.name}" for iteration in (0, 1) for step in iteration_steps(driven.run.settings)
    ]
    assert "iteration 0 collect: done in" in out
    assert "10 battles" in out, "two shards have each reported five"


@pytest.mark.slow
@pytest.mark.parametrize("driven", ['iterations = 1\n[train]\nseeds = 2\n[gate]\ntest = "sprt"'], indirect=True)
def test_a_gate_runs_between_train_and_evaluate_once_for_each_trained_policy(driven: Driven) -> None:
    code, out, _ = driven.finish()
    assert code == 0
    steps = [line.split(":")[0].split()[-1] for line in out.splitlines() if "done in" in line]
    assert steps == ["plan", "collect", "train", "gate", "evaluate", "solve", "report"]
    assert [driven.tries(f"0-gate-{shard}") for shard in range(3)] == [1, 1, 0]


@pytest.mark.slow
def test_goes_on_where_a_manifest_is_missing_and_a_finished_run_starts_no_process(driven: Driven) -> None:
    driven.finish()
    (key,) = [key for key in driven.run.store.list("iterations/0000/collect/00001/") if "manifest" in key]
    driven.run.store.delete(key)
    assert driven.finish()[0] == 0
    assert driven.missing() == []
    assert driven.tries("0-collect-1") == 2
    assert driven.tries("0-collect-0") == 1
    before = driven.pids()
    assert driven.finish()[0] == 0
    assert sorted(driven.pids()) == sorted(before)


@pytest.mark.slow
def test_tries_again_after_what_another_try_can_mend(driven: Driven) -> None:
    exits = {"collect_0": (75, 143), "collect_1": (137, -signal.SIGKILL), "train_0": (-signal.SIGTERM,)}
    driven.behave(**{step: {"exits": codes} for step, codes in exits.items()})
    assert driven.finish()[0] == 0
    assert driven.missing() == []
    for step, codes in exits.items():
        assert driven.tries(f"0-{step.replace('_', '-')}") == len(codes) + 1


@pytest.mark.slow
def test_gives_up_after_the_last_try_with_the_steps_message_and_log(driven: Driven) -> None:
    driven.behave(train_0={"exits": [75] * 9})
    code, out, err = driven.finish()
    assert code == 75
    assert driven.tries("0-train-0") == 3
    assert "retrying in" in out
    log = driven.scratch / "logs" / "0000-train-00000.log"
    assert err == f"error: train of iteration 0, shard 0: try 2 of train went wrong (log: {log})\n"
    assert log.read_text().count("went wrong") == 3
    assert (0, StepName.EVALUATE, 0) in driven.missing()


@pytest.mark.slow
@pytest.mark.parametrize(("code", "exits_with"), [(64, 64), (65, 65), (1, 70), (-signal.SIGSEGV, 70)])
def test_never_tries_again_after(driven: Driven, code: int, exits_with: int) -> None:
    driven.behave(plan_0={"exits": [code]})
    got, _, err = driven.finish()
    assert got == exits_with
    assert err.startswith("error: plan of iteration 0, shard 0: ")
    assert err.count("\n") == 1
    assert driven.tries("0-plan-0") == 1


def test_a_port_that_the_steps_cannot_share_is_reported(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_METRICS_PORT", "9090")
    driven.behave(plan_0={"exits": [65]})
    code, out, _ = driven.finish()
    assert code == 65
    assert out.splitlines()[0].startswith("NASHDEX_METRICS_PORT has no effect here: ")


@pytest.mark.slow
def test_the_store_says_how_the_run_ended_until_it_continues(driven: Driven) -> None:
    driven.behave(train_0={"exits": [65]})
    assert driven.finish()[0] == 65
    failed = read_verdict(driven.run.store)
    assert failed is not None
    assert (failed.phase, failed.iteration) == ("failed", 0)
    assert failed.message.startswith("train of iteration 0, shard 0: ")
    driven.behave(train_0={"waits": True})
    process = driven.start()
    _wait_until(lambda: driven.tries("0-train-0") == 2, "the second attempt")
    assert read_verdict(driven.run.store) is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=DEADLINE_SECONDS)
    stopped = read_verdict(driven.run.store)
    assert stopped is not None
    assert stopped.phase == "stopped"
    driven.behave()
    assert driven.finish()[0] == 0
    succeeded = read_verdict(driven.run.store)
    assert succeeded is not None
    assert succeeded.phase == "succeeded"
    driven.finish()
    assert read_verdict(driven.run.store) == succeeded


def test_the_store_says_that_a_run_failed_whose_logs_cannot_be_written(driven: Driven) -> None:
    (driven.scratch / "logs" / "0000-plan-00000.log").mkdir(parents=True)
    assert driven.finish()[0] != 0
    failed = read_verdict(driven.run.store)
    assert failed is not None
    assert (failed.phase, failed.iteration) == ("failed", 0)
    assert "0000-plan-00000.log" in failed.message


def test_a_failure_stops_the_other_shards(driven: Driven) -> None:
    driven.behave(collect_0={"waits": True, "grandchild": True}, collect_1={"exits": [65]})
    assert driven.finish()[0] == 65
    assert driven.living() == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stops_on_a_signal_leaving_no_process_and_goes_on_later(
    driven: Driven, number: signal.Signals, code: int
) -> None:
    driven.behave(
        collect_0={"waits": True, "grandchild": True}, collect_1={"waits": True, "stubborn": True, "grandchild": True}
    )
    process = driven.start()
    _wait_until(lambda: len(driven.pids()) >= 5, "plan and both collectors with their own processes")
    process.send_signal(number)
    _, err = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == code
    assert "run the same command again to go on" in err
    assert driven.living() == []
    driven.behave()
    assert driven.finish()[0] == 0
    assert driven.missing() == []


def test_a_second_signal_kills_at_once(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_RUN_GRACE_SECONDS", str(10 * DEADLINE_SECONDS))
    driven.behave(plan_0={"waits": True, "stubborn": True})
    process = driven.start()
    _wait_until(driven.pids, "the plan's process")
    process.send_signal(signal.SIGINT)
    _wait_until(lambda: "stopping" in (process.stdout.readline() if process.stdout else ""), "the first signal's word")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE_SECONDS)  # much sooner than the grace
    assert process.returncode == 130
    assert driven.living() == []


def test_steps_end_when_the_runner_is_killed(driven: Driven) -> None:
    driven.behave(collect_0={"waits": True}, collect_1={"waits": True, "stubborn": True, "grandchild": True})
    process = driven.start()
    _wait_until(lambda: len(driven.pids()) >= 4, "plan and both collectors, one with a process of its own")
    assert len(driven.living()) == 3
    process.kill()
    process.communicate(timeout=DEADLINE_SECONDS)
    _wait_until(lambda: not driven.living(), "all of them to follow")


def test_exit_0_without_a_manifest_is_a_defect(driven: Driven) -> None:
    driven.behave(plan_0={"exits": [0]})
    code, _, err = driven.finish()
    assert code == 70
    assert "left no manifest" in err
