"""Logs of steps: what each line says of its work, and what is in the store afterwards."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import structlog

from nashdex.core.errors import TryAgainError
from nashdex.core.steps import StepName
from nashdex.core.work import working_on
from nashdex.settings.process import TelemetrySettings
from nashdex.store import open_store
from nashdex.telemetry.logging import LogArchive, configure_logging
from nashdex_cli.cli import run_command_line
from nashdex_cli.commands.cluster.logs import archived_lines
from support.begun_runs import begin_run

CONFIG = Path(__file__).parents[3] / "configs" / "kuhn.toml"
SECRET = "a-very-secret-value"  # noqa: S105 - the test's own


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return begin_run(str(tmp_path), CONFIG, name="kuhn", overrides=["iterations=1"]).store.uri


def step(uri: str, name: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a step as a pod does."""
    pod = {"NASHDEX_ARCHIVE_LOGS": "true", "NASHDEX_LOG_FORMAT": "json", "AWS_SECRET_ACCESS_KEY": SECRET}
    command = [sys.executable, "-m", "nashdex_cli", "step", name, "--run", uri, "--iteration", "0", "--shard", "0"]
    return subprocess.run(command, env=os.environ | pod | environment, capture_output=True, text=True, check=False)


def archived(uri: str) -> list[dict[str, Any]]:
    """Return the archived lines of a run."""
    store = open_store(uri)
    return [json.loads(line) for key in store.list("logs/") for line in store.get(key).decode().splitlines()]


def test_every_line_says_what_it_is_of_and_is_archived(uri: str) -> None:
    for name in ("plan", "collect"):
        done = step(uri, name)
        assert done.returncode == 0, done.stderr
        printed = [json.loads(line) for line in done.stderr.splitlines()]
        assert printed
        for line in printed:
            assert line.items() >= {"run": "kuhn", "iteration": 0, "step": name, "shard": 0}.items()
        (attempt,) = {line["attempt"] for line in printed}
        assert list(open_store(uri).list(f"iterations/0000/{name}/00000/{attempt}/")) or name == "plan"
        assert printed == [line for line in archived(uri) if line["step"] == name]


def test_a_failure_is_archived_with_its_traceback(uri: str) -> None:
    failed = step(uri, "collect")  # without a plan
    assert failed.returncode == 65
    (last,) = (line for line in archived(uri) if line["level"] == "error")
    assert "DataError" in last["event"]
    assert "Traceback" in last["exception"]
    assert (last["step"], last["iteration"], last["run"]) == ("collect", 0, "kuhn")
    assert SECRET not in json.dumps(archived(uri))


def test_nothing_is_archived_unless_asked(uri: str) -> None:
    assert step(uri, "plan", NASHDEX_ARCHIVE_LOGS="false").returncode == 0
    assert archived(uri) == []


def test_logs_in_a_store_are_printed(uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["logs", uri]) == 65
    complaint = capsys.readouterr().err
    assert "has no such logs" in complaint
    assert complaint.endswith("kuhn/logs\n"), "where a run of one machine has them"
    for name in ("plan", "collect"):
        assert step(uri, name).returncode == 0
    assert run_command_line(["logs", uri, "collect", "--iteration", "0", "--shard", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith("collect, iteration 0, shard 0 | {") for line in lines)
    assert run_command_line(["logs", uri, "collect", "--shard", "7"]) == 65
    assert run_command_line(["logs", uri, "--follow"]) == 64
    assert len(list(archived_lines(open_store(uri)))) > len(lines)


def test_attempts_are_printed_in_their_order(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    attempts = {"ffff": ["2026-01-01T00:00:01Z", "2026-01-01T00:01:01Z"], "0000": ["2026-01-01T00:02:00Z"], "7777": []}
    for attempt, times in attempts.items():
        for part, timestamp in enumerate(times):
            text = json.dumps({"event": f"{attempt} {part}", "timestamp": timestamp})
            store.put(f"logs/0002/train/00001/{attempt}/{part:05d}.jsonl", f"{text}\n".encode())
    store.put("logs/0002/train/00001/7777/00000.jsonl", b"cut o")
    heads, lines = zip(*(line.split(" | ") for line in archived_lines(store, iteration=2)), strict=True)
    assert set(heads) == {"train, iteration 2, shard 1"}
    assert lines[0] == "cut o"
    assert [json.loads(line)["event"] for line in lines[1:]] == ["ffff 0", "ffff 1", "0000 0"]


class Stored:
    """Objects of a store that may be away."""

    def __init__(self) -> None:
        self.parts: dict[str, list[dict[str, Any]]] = {}
        self.is_away = False

    def put(self, key: str, data: bytes) -> None:
        if self.is_away:
            raise TryAgainError("the store is away")
        self.parts[key] = [json.loads(line) for line in data.decode().splitlines()]

    @property
    def events(self) -> list[str]:
        return [line["event"] for part in self.parts.values() for line in part]


@pytest.fixture
def log() -> Any:  # noqa: ANN401 - structlog's proxy has no type
    root, old = logging.getLogger(), logging.getLogger().handlers[:]
    configure_logging(TelemetrySettings(log_format="json"))
    yield structlog.get_logger("nashdex.tests")
    root.handlers[:] = old
    structlog.reset_defaults()


def until(condition: Any) -> None:  # noqa: ANN401 - a callable
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lines_are_archived_while_the_step_runs_and_wait_for_a_store_that_is_away(log: Any) -> None:  # noqa: ANN401
    stored = Stored()
    with LogArchive(stored.put, str, first_pause_seconds=0.01):
        log.info("first")
        until(lambda: stored.events == ["first"])
        stored.is_away = True
        log.info("second")
        time.sleep(0.1)
        stored.is_away = False
        log.info("third")
        until(lambda: stored.events == ["first", "second", "third"])
    log.info("after")
    assert stored.events == ["first", "second", "third"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_line_that_has_no_utf_8_is_archived_and_so_are_those_after_it(log: Any) -> None:  # noqa: ANN401
    stored = Stored()
    with LogArchive(stored.put, str, first_pause_seconds=0.01):
        log.info("odd \udcff")
        until(lambda: stored.events)
        log.info("next")
    assert stored.events == ["odd \udcff", "next"]


def test_a_wrong_call_of_a_library_to_its_log_does_not_end_the_step(
    log: Any,  # noqa: ANN401
    capsys: pytest.CaptureFixture[str],
) -> None:
    stored = Stored()
    with LogArchive(stored.put, str) as archive:
        # Not by the library's logger, whose records pytest's own handler refuses too.
        archive.handle(logging.LogRecord("library", logging.WARNING, __file__, 0, "%d things", ("many",), None))
        log.info("next")
    assert stored.events == ["next"]
    assert "%d things" in capsys.readouterr().err


def test_a_store_that_stays_away_does_not_fail_the_step(log: Any) -> None:  # noqa: ANN401
    stored = Stored()
    stored.is_away = True
    with LogArchive(stored.put, str):
        log.info("lost")
    assert stored.parts == {}


def test_lines_of_threads_and_libraries_say_what_they_are_of(log: Any) -> None:  # noqa: ANN401
    def say() -> None:
        log.info("ours")
        logging.getLogger("library").warning("theirs")

    stored = Stored()
    with working_on("r", 3, StepName.TRAIN, 1) as work, LogArchive(stored.put, str):
        thread = threading.Thread(target=say)
        thread.start()
        thread.join()
    expected = {"run": "r", "iteration": 3, "step": "train", "shard": 1, "attempt": work.attempt}
    (lines,) = stored.parts.values()
    assert [line["event"] for line in lines] == ["ours", "theirs"]
    assert all(line.items() >= expected.items() for line in lines)
