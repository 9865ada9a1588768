"""The CPU time of child processes, which the costs of a run count."""

import subprocess
import sys

from nashdex.core.child_cpu import ChildCpu


def test_the_time_of_a_child_that_was_killed_stays_known() -> None:
    burns = [sys.executable, "-c", "sum(i * i for i in range(10**7)); print('done', flush=True); input()"]
    with subprocess.Popen(burns, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        cpu = ChildCpu(child.pid)
        child.kill()
        cpu.stop()
        child.wait()
        assert cpu.seconds() > 0.1
        assert ChildCpu(child.pid).seconds() == 0.0, "nothing is left to read it from"


def test_without_stop_what_was_read_last_stays_known() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        cpu = ChildCpu(child.pid)
        seconds = cpu.seconds()
        child.kill()
        child.wait()
        assert cpu.seconds() == seconds
