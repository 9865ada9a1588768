"""Other processes, which may end while a test looks at them."""

import psutil


def command_line(process: psutil.Process) -> str:
    """Return a process's command line; empty if it has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
