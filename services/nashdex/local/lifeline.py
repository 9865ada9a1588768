"""A child's tie to the process that started it: it stops when its standard input ends.

The parent holds the other end of a pipe and never writes. However it dies, SIGKILL included, the kernel closes that
end. The gateways end on the same sign.
"""

import os
import signal
import sys
import threading
import time
from typing import BinaryIO


def stop_at_end_of_input(grace_seconds: float, stream: BinaryIO | None = None) -> None:
    """Watch standard input (or ``stream``) in the background; at its end stop as if told to.

    The process gets SIGTERM, and if it still lives after ``grace_seconds``, its whole group gets SIGKILL: only where
    it leads one, so that a shell's other jobs are left alone.
    """
    watched = stream or sys.stdin.buffer
    threading.Thread(target=_watch, args=(watched, grace_seconds), name="lifeline", daemon=True).start()


def _watch(stream: BinaryIO, grace_seconds: float) -> None:
    # The descriptor, not the buffered stream: a daemon thread that holds a stream's lock breaks the interpreter's exit.
    while os.read(stream.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
