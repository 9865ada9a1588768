"""CPU time of a process and its descendants."""

from contextlib import suppress

import psutil


def cpu_seconds_of_tree(process: psutil.Process) -> float:
    """Return the CPU time of a process and its descendants, user and system, in seconds."""
    total = 0.0
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = member.cpu_times()
            total += times.user + times.system
    return total
