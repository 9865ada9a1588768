"""Measuring one step in a process of its own, as a pod runs it: CPU time, peak memory, requests."""

import os
import sys
from collections.abc import Callable

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.errors import DataError
from nashdex.store.usage import total

_KIB = 1 if sys.platform == "darwin" else 1024
"""Bytes of the unit that the system counts resident memory in."""


class StepScale(Model):
    """One step of the newest iteration."""

    step: str
    cpu_seconds: NonNegativeFloat
    """User and system, without the imports of the process."""
    peak_bytes: NonNegativeInt
    """Largest resident memory of the process, with its imports."""
    requests: NonNegativeInt
    """Requests to the store."""


def measured(step: str, work: Callable[[], object]) -> StepScale:
    """Do ``work`` in a forked process and return what it took.

    Raises:
        DataError: the process failed; it has printed why.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _work_and_exit(work, writing)
    os.close(writing)
    with os.fdopen(reading) as answer:
        requests = answer.read()
    _, status, used = os.wait4(child, 0)
    if status or not requests:
        raise DataError(f"the {step} step of the benchmark failed; its error is above")
    return StepScale(
        step=step,
        cpu_seconds=used.ru_utime + used.ru_stime,
        peak_bytes=used.ru_maxrss * _KIB,
        requests=int(requests),
    )


def _work_and_exit(work: Callable[[], object], answer: int) -> None:
    """Do ``work``, write how many requests it made, and end this process without the parent's clean-up."""
    code = 1
    try:
        before = _num_requests()
        work()
        os.write(answer, str(_num_requests() - before).encode())
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must not go on as two processes
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _num_requests() -> int:
    return total().requests.total()
