"""What CI runs: every part, whatever fails on the way; and the table of what tests take."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from times_of_tests import read_times, table

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
MAKE = """#!/usr/bin/env bash
echo "$*" >> "$CALLS"
[ "$1" != "$FAILS" ]
"""


def run_ci(folder: Path, fails: str) -> tuple[int, str, list[str]]:
    """Run ``.ci/run`` where each part only says that it was called, and the part ``fails`` fails."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    programs = folder / "programs"
    programs.mkdir()
    for name in ("chromium", "promtool"):
        (programs / name).symlink_to("/bin/true")
    (programs / "make").write_text(MAKE)
    (programs / "make").chmod(0o755)
    outside = {name: value for name, value in os.environ.items() if name not in {"KUBECONFIG", "CLUSTER_UP"}}
    environment = outside | {"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(folder / "calls"), "FAILS": fails}
    done = subprocess.run([folder / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, (folder / "calls").read_text().splitlines()


@pytest.mark.parametrize("fails", ["nothing", "test", "e2e", "slow-test"])
def test_every_part_runs_whatever_fails(fails: str, tmp_path: Path) -> None:
    code, printed, calls = run_ci(tmp_path, fails)
    assert calls[:2] == ["setup", "test"]
    assert set(calls) == {"setup", "test", "e2e", "slow-test", "times"}
    assert code == (0 if fails == "nothing" else 1)
    parts = {line.split()[0]: line.split()[-1] for line in printed.splitlines() if " min " in line}
    expected = {part: "FAILED" if part == fails else "passed" for part in ("prepare", "test", "e2e", "slow-test")}
    assert parts == expected | {"together": "s"}


def test_times_are_listed_by_part_and_by_cpu(tmp_path: Path) -> None:
    case = (
        '<testcase classname="tests.contract.test_ci" name="{}" time="{}"><properties>'
        '<property name="cpu_seconds" value="{}" /></properties></testcase>'
    )
    cases = "".join(case.format(*each) for each in (("test_a", 30, 2), ("test_b", 10, 9), ("test_c", 1, 0.5)))
    skipped = '<testcase classname="x" name="test_skipped" time="0"><skipped /></testcase>'
    (tmp_path / "test.xml").write_text(f"<testsuites><testsuite>{cases}{skipped}</testsuite></testsuites>")
    lines = list(table(list(read_times(tmp_path)), slowest=2))
    assert "| `make test` | 3 | 41 | 12 |" in lines
    assert [line for line in lines if "test_ci" in line] == [
        f"| `test_ci`: `{name}` | {seconds} | {cpu} | What CI runs: every part, whatever fails on the way; and the "
        "table of what tests take |"
        for name, seconds, cpu in (("test_b", 10, 9), ("test_a", 30, 2))
    ]
