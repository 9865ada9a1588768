"""Some seconds of ``make fuzz``, which also reads every input that once failed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


SECONDS = 20


@pytest.mark.slow
def test_no_reader_lets_anything_through_but_its_own_errors() -> None:
    command = [sys.executable, "-m", "fuzz", "--seconds", str(SECONDS)]
    done = subprocess.run(
        command,
        cwd=TESTS,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=1700,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.endswith("0 failures\n")
