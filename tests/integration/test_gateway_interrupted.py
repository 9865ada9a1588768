"""A command that is stopped while a gateway starts, which ends too: Ctrl-C goes to every process of a terminal."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_says_that_it_was_stopped(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\nkill -{sent.name.removeprefix('SIG')} $PPID\n")
    node.chmod(0o755)
    ended = subprocess.run(
        [sys.executable, "-m", "nashdex_cli", "battle", "--format", "gen1ou", "--p1", "random", "--p2", "random"],
        env=os.environ | {"NASHDEX_GATEWAY_NODE": str(node)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith("error: stopped after 0 of 100 battles")
    assert ended.stderr.count("\n") == 1
