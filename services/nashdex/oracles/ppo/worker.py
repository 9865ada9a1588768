"""A further process of a training: ``python -m nashdex.oracles.ppo.worker``. Only ``processes`` starts it.

Standard input has one line, a JSON object that says what to train, and then stays open as long as process 0 lives.
"""

import json
import os
import signal
import sys
import threading


def main() -> None:
    """Compute parts of optimiser steps until this process is killed, or process 0 ends."""
    # Process 0 saves its work and then ends this one.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    described = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_process_0, name="lifeline", daemon=True).start()
    from nashdex.oracles.ppo.serving import serve  # noqa: PLC0415 - the imports take seconds, and signals may come

    serve(described)


def _end_with_process_0() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
