"""Readers bound memory by what is stored, whatever it declares."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "support" / "programs" / "hostile_sizes.py"
MOST_MEBIBYTES = 400


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, object]]:
    environment = os.environ | {"PYTHONPATH": str(PROGRAM.parents[2])}
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, check=True, env=environment)
    result: dict[str, dict[str, object]] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        ("more_than_declared", "holds more or less than the 1048576 bytes that it declares"),
        ("crowd", "holds 2000000 episodes"),
        ("header", "its header claims"),
        ("vast_network", "does not fit the network"),
    ],
)
def test_what_is_declared_is_bounded_by_what_is_stored(
    found: dict[str, dict[str, object]], attack: str, says: str
) -> None:
    assert says in str(found[attack]["error"])
    assert float(str(found[attack]["mebibytes"])) < MOST_MEBIBYTES
