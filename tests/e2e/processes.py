"""Other programs, each with a deadline: kubectl, helm, argo, nashdex."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
NASHDEX = (sys.executable, "-m", "nashdex_cli")

_Found = TypeVar("_Found")
_PAUSE_SECONDS = 1.0


def attempt(*command: str, seconds: float = 60.0, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a program in the repository's root, whatever its exit code. Raises TimeoutExpired after ``seconds``."""
    return subprocess.run(
        command, cwd=ROOT, input=given or "", capture_output=True, text=True, timeout=seconds, check=False
    )


def run(*command: str, seconds: float = 60.0, given: str | None = None) -> str:
    """Return the output of a program that must succeed."""
    ended = attempt(*command, seconds=seconds, given=given)
    said = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    assert ended.returncode == 0, f"{' '.join(command)[:400]}: exit code {ended.returncode}\n{said}"
    return ended.stdout


def read_json(*command: str, seconds: float = 60.0) -> Any:  # noqa: ANN401 - whatever the program says
    """Return the JSON that a program printed."""
    return json.loads(run(*command, seconds=seconds))


def wait_for(condition: Callable[[], _Found | None], what: str, seconds: float) -> _Found:
    """Poll once a second until the result is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} seconds in vain for {what}"
        time.sleep(_PAUSE_SECONDS)
    return found
