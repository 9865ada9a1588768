"""What this machine gives its user: cores, and a folder for what is not part of a run."""

import os
from pathlib import Path


def usable_cores() -> int:
    """Return the number of cores that this process may use; where the system does not say, all cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def state_folder() -> Path:
    """Return the user's folder for what nashdex keeps between commands, such as logs of runs in buckets."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "nashdex"
