"""What a failure looks like to whoever typed the command: one line, an exit code, nothing left behind."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nashdex.core.errors import DataError, TryAgainError
from nashdex_cli import cli

NASHDEX = [sys.executable, "-m", "nashdex_cli"]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NASHDEX_DEBUG", "")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


def _raising(error: BaseException) -> Callable[..., None]:
    def command(**_: object) -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (DataError("x is cut off\nin the middle"), 65, "error: x is cut off in the middle\n"),
        (TryAgainError("gone"), 75, "error: gone\n"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (MemoryError(), 75, "out of memory"),
        (OSError(errno.EMFILE, "Too many open files", "/runs/x"), 75, "too many files are open; raise the limit"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 75, "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device", "/runs/x"), 75, "/runs/x: the disk or quota is full"),
        (
            ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"),
            64,
            "needs the Python package torch; install it",
        ),
    ],
)
def test_what_is_raised_sets_code_and_words(
    error: BaseException, code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "command", _raising(error))
    assert cli.run_command_line([]) == code
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code", "says"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "stopped by a signal")]
)
def test_an_interrupted_command_says_so(tmp_path: Path, number: signal.Signals, code: int, says: str) -> None:
    pipe = tmp_path / "counts.json"
    os.mkfifo(pipe)
    process = subprocess.Popen([*NASHDEX, "rate", str(pipe)], stderr=subprocess.PIPE, text=True)
    with process, pipe.open("w"):  # waits until the command reads
        process.send_signal(number)
        _, err = process.communicate()
    assert (process.returncode, err) == (code, f"error: {says}\n")


@pytest.mark.parametrize(
    ("name", "code", "says"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "stopped by a signal")]
)
def test_an_interrupt_during_the_imports_prints_no_traceback(tmp_path: Path, name: str, code: int, says: str) -> None:
    (tmp_path / "typer.py").write_text(f"import os, signal\nos.kill(os.getpid(), signal.{name})\n")
    ended = subprocess.run([*NASHDEX, "formats"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", f"error: {says}\n")


def test_a_defect_names_its_kind_and_the_file_with_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "command", _raising(ZeroDivisionError("division by zero")))
    assert cli.run_command_line([]) == 70
    err = capsys.readouterr().err
    assert err.startswith("error: ZeroDivisionError: division by zero")
    assert "Traceback" not in err
    saved = Path(err.rsplit(" ", 1)[1].strip())
    assert "Traceback" in saved.read_text()


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NASHDEX_DEBUG", "1")
    monkeypatch.setattr(cli, "command", _raising(DataError("wrong")))
    assert cli.run_command_line([]) == 65
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.endswith("error: wrong\n")


def test_a_reader_that_leaves_early_is_no_failure_to_talk_about() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run([*NASHDEX, "config", "schema"], stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert process.stderr == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_under_standard_output_says_so() -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run([*NASHDEX, "config", "schema"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert process.returncode == 75
    assert process.stderr.startswith(b"error: standard output or a file: the disk or quota is full")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("command", [["config", "schema"], ["nosuch"]])
def test_a_full_disk_under_both_streams_sets_the_exit_code(command: list[str]) -> None:
    """As where a step's log shares the full disk."""
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run([*NASHDEX, *command], stdout=full, stderr=full, check=False)
    assert process.returncode == (64 if command == ["nosuch"] else 75)


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_failure(closed: str) -> None:
    command = f"{sys.executable} -m nashdex_cli config schema {closed}"
    process = subprocess.run(["sh", "-c", command], capture_output=True, check=False)  # noqa: S607
    assert process.returncode == 0
    assert process.stderr == b""


@pytest.mark.parametrize(("encoding", "options"), [("ascii", ["--json"]), ("latin-1", [])])
def test_an_encoding_without_a_character_writes_an_escape(encoding: str, options: list[str], tmp_path: Path) -> None:
    matrix = {"policies": ["β-Δ", "é"], "payoffs": [[0, 1], [-1, 0]]}
    (tmp_path / "game.json").write_text(json.dumps(matrix))
    command = [*NASHDEX, "solve", "game.json", *options]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    process = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert process.returncode == 0, process.stderr
    written = process.stdout.decode(encoding)
    if options:
        written = json.dumps(json.loads(written), ensure_ascii=False)
        assert "β-Δ" in written
    else:
        assert "\\u03b2" in written


def test_a_long_value_is_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here.toml").write_text("iterations = 1\n")
    assert cli.run_command_line(["config", "show", "here.toml", "--set", f"format={'x' * 100_000}"]) == 64
    err = capsys.readouterr().err
    assert len(err) < 2500
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("_x = 1", 64),
        ('[train.oracle.damping.beta]\nkind = "magic"', 64),
        ("__class__ = 1", 64),
        ("[collect]\n_battles = 1", 64),
        ("[train.oracle]\n__init__ = 1", 64),
        (f"seed = {'9' * 400}", 64),
        (f"seed = 0x{'f' * 5000}", 64),
        ("seed = 1e400", 64),
        ("[arena]\ndeadline_seconds = 0.000001", 64),
        (f"x = {'[' * 5000}", 65),
        ("x." * 5000 + "y = 1", 64),
        (f"seed = {'9' * 5000}", 65),
    ],
)
def test_odd_settings_get_one_line(text: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.toml").write_text(text)
    assert cli.run_command_line(["config", "show", "odd.toml"]) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "assignment",
    [
        f"seed={'9' * 5000}",
        f"seed={'[' * 5000}",
        "seed=1\niterations=2",
        "seed=1\n[collect]",
        "seed=\0",
        "seed=٣",
        "seed=nan",
        "seed=1e400",
        "seed=\ud800",
        "..=1",
        "collect.=1",
        "collect.battles.x=1",
        "population.initial=[1,{}]",
        "run=\0",
        "matrix=\0",
        "format=\0",
    ],
)
def test_odd_assignments_get_one_line(assignment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here.toml").write_text("iterations = 1\n")
    assert cli.run_command_line(["config", "show", "here.toml", "--set", assignment]) == 64
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert len(err) < 500


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no /dev/zero")
@pytest.mark.parametrize(
    "arguments",
    [
        ["config", "show", "/dev/zero"],
        ["run", "here.toml", "--set", "teams=/dev/zero"],
        ["run", "here.toml", "--set", "format=matrix", "--set", "matrix=/dev/zero"],
        ["solve", "/dev/zero"],
        ["begin", "--bundle", "/dev/zero", "--store", "store"],
        ["config", "show", "a\0b"],
        ["solve", "a\0b"],
        ["config", "show", "."],
    ],
)
def test_a_file_without_end_or_name_is_refused(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here.toml").write_text("iterations = 1\n")
    assert cli.run_command_line(arguments) in {64, 65}
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
