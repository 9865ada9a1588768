"""A gateway for a user who has as many large pipes as the system allows, such as those of 32 other gateways."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has the limit")]

PROGRAM = Path(__file__).parents[1] / "support" / "programs" / "many_pipes.py"
AS_OTHERS = ["setpriv", "--bounding-set", "-sys_resource,-sys_admin"]
"""Runs a command of root's without its right to more."""


def test_a_gateway_opens_where_no_large_pipe_is_left() -> None:
    prefix = AS_OTHERS if os.geteuid() == 0 else []
    if prefix and shutil.which(prefix[0]) is None:
        pytest.skip("setpriv is missing")
    command = [*prefix, sys.executable, str(PROGRAM)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 77:
        pytest.skip("the system limits no pipes")
    assert ended.returncode == 0, ended.stderr
