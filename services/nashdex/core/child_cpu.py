"""The CPU time of a child process, which stays known once the process has ended."""

import psutil


class ChildCpu:
    """CPU time of the child process ``process_id``, user and system; 0 of none."""

    def __init__(self, process_id: int | None) -> None:
        self._process_id = process_id
        self._seconds = 0.0

    def seconds(self) -> float:
        """Return the CPU time so far, or until ``stop``, in seconds. It never falls."""
        if self._process_id is not None:
            try:
                times = psutil.Process(self._process_id).cpu_times()
            except psutil.Error:
                return self._seconds
            self._seconds = float(times.user + times.system)
        return self._seconds

    def stop(self) -> None:
        """Read it for the last time. Call this before waiting for the process: afterwards another may have its id."""
        self.seconds()
        self._process_id = None
