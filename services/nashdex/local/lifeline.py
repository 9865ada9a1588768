"""Ties a child to its parent: the child stops when its standard input ends.

The parent holds the other end of a pipe and never writes to it. However the parent dies, SIGKILL included, the kernel
closes that end. The gateways stop in the same way.
"""

import os
import signal
import sys
import threading
import time
from typing import BinaryIO


def stop_at_end_of_input(grace_seconds: float, stream: BinaryIO | None = None) -> None:
    """Watch standard input (or ``stream``) in the background, and stop this process at its end.

    The process gets SIGTERM. If it is still alive after ``grace_seconds``, it gets SIGKILL, and so does its whole group
    if it leads one; otherwise other jobs of the shell would die too.
    """
    watched = stream or sys.stdin.buffer
    threading.Thread(target=_watch, args=(watched, grace_seconds), name="lifeline", daemon=True).start()


def _watch(stream: BinaryIO, grace_seconds: float) -> None:
    # Read the descriptor, not the buffered stream: a daemon thread that holds a stream's lock blocks interpreter exit.
    while os.read(stream.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
