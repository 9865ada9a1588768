"""``nashdex calibrate``: what it prints and stores, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from nashdex.core import keys
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.store import open_store
from nashdex_cli import cli
from support.tournaments import cell

_PROCESSES = 3
"""Two that simulate, and multiprocessing's own."""
A_OVER_B = ["a", "a", "a", "b", "b", "a", "a", "a"] * 5


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Return a file of counts of 20 pairs."""
    counts = SampledCounts.unplayed(()).with_records(("a", "b"), cell("a", "b", A_OVER_B))  # type: ignore[arg-type]
    path = tmp_path / "ledger.json"
    path.write_bytes(counts.to_json())
    return path


def _calibrated(ledger: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    arguments = ["calibrate", str(ledger), "--sets", "20", "--processes", "1", *options, "--json"]
    assert cli.run_command_line(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_every_number_of_a_ledger_has_its_coverage(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = _calibrated(ledger, capsys)
    names = {number["name"] for number in document["numbers"]}
    assert names >= {"payoff", "elo", "elo_difference", "meta_strategy", "restricted", "pair_correlation"}
    for number in document["numbers"]:
        assert number["nominal"] == 0.95
        assert number["sets"] == 20
        assert 0 < number["standard_error"] < 0.25
        assert 0.5 <= number["coverage"] <= 1
    assert (document["policies"], document["battles"]) == (2, 40)
    assert document["correlation"] < 0
    assert {**_calibrated(ledger, capsys), "seconds": 0} == {**document, "seconds": 0}


def test_the_table_for_people(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["calibrate", str(ledger), "--sets", "10", "--processes", "1"]) == 0
    out = capsys.readouterr().out
    assert "standard error" in out
    assert "2 policies, 40 battles a tournament, correlation of a pair -0." in out


def _started(ledger: Path) -> "subprocess.Popen[str]":
    """Start a calibration of minutes and wait for its processes."""
    command = [sys.executable, "-m", "nashdex_cli", "calibrate", str(ledger), "--sets", "100000", "--processes", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and len(psutil.Process(process.pid).children()) < _PROCESSES:
        time.sleep(0.01)
    return process


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_the_group_ends_every_process_with_one_line(ledger: Path, number: int, code: int) -> None:
    with _started(ledger) as process:
        os.killpg(process.pid, number)  # as a terminal does, and a service manager
        _, err = process.communicate()
    assert (process.returncode, err.count("\n")) == (code, 1)
    assert err.startswith("error: stopped by a signal")


@pytest.mark.slow
def test_a_process_that_is_killed_is_named_and_can_be_tried_again(ledger: Path) -> None:
    with _started(ledger) as process:
        psutil.Process(process.pid).children()[-1].kill()
        _, err = process.communicate()
    assert (process.returncode, err.count("\n")) == (75, 1)
    assert err.startswith("error: a process that simulates was ended by a signal")


@pytest.mark.parametrize(
    ("content", "problem"), [("{}", "expected all of wins, draws and games"), (None, "cannot be read")]
)
def test_a_wrong_file_is_refused(
    tmp_path: Path, content: str | None, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.json"
    if content is not None:
        path.write_text(content)
    assert cli.run_command_line(["calibrate", str(path)]) == 65
    assert problem in capsys.readouterr().err


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["calibrate", str(tmp_path / "none")]) == 65
    assert keys.CONFIG in capsys.readouterr().err
    assert not list(open_store(str(tmp_path)).list(""))
