"""A program for children that start warm: does what its arguments say."""

import os
import signal
import sys
import time
from collections.abc import Sequence

from nashdex_cli.cli import run_command_line


def main(arguments: Sequence[str]) -> int:
    """Run one of a few behaviours and return the exit code."""
    what, *rest = arguments
    match what:
        case "say":
            sys.stdout.write("to the log\n")
            sys.stdout.flush()
            sys.stderr.write("to the log too\n")
            with os.fdopen(int(os.environ["NASHDEX_PROGRESS_FD"]), "w") as progress:
                progress.write("to the runner\n")
            sys.stdout.write(f"{sorted(os.environ)} {os.getpid() == os.getpgrp()} {os.getppid()}\n")
        case "nashdex":
            return run_command_line(rest)
        case "exit":
            return int(rest[0])
        case "sleep":
            time.sleep(60)
        case "ignore":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            sys.stdout.write("ignoring\n")
            sys.stdout.flush()
            time.sleep(60)
        case "read":
            sys.stdin.read()
            return 7
    return 0
