"""``nashdex`` and ``python -m nashdex_cli``: the command line."""

import signal
import sys
from types import FrameType
from typing import NoReturn

_STOPPED = 143
"""``core.errors.ExitCode.STOPPED``, which is not imported yet."""


def main() -> NoReturn:
    """Run the command line. Ctrl-C or SIGTERM while it is imported prints a line instead of a traceback."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        from nashdex_cli import cli
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    except SystemExit:
        sys.stderr.write("error: stopped by a signal\n")
        raise
    cli.main()


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """End a command that handles no SIGTERM as Ctrl-C does: what is half-written is removed on the way out.

    The first process of a container needs a handler anyway: the kernel ignores its signals otherwise.
    """
    del number, frame
    sys.exit(_STOPPED)


if __name__ == "__main__":
    main()
