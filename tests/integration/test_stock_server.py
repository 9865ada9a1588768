"""The stock Showdown server as a child process."""

import subprocess
import sys

import psutil
import pytest

PROGRAM = """
import time
from nashdex.games.showdown.stock_server import stock_server

with stock_server() as server:
    print(server.process.pid, flush=True)
    time.sleep(3600)
"""


@pytest.mark.slow
def test_no_process_of_the_server_outlives_a_killed_program() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        server = psutil.Process(int(program.stdout.readline()))
        processes = [server, *server.children(recursive=True)]
        program.kill()
    assert len(processes) > 1
    _, alive = psutil.wait_procs(processes, timeout=120)
    assert not alive
