"""The standard streams, made safe: one may be closed, be on a full disk, or have an encoding that lacks characters."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO

_STANDARD = range(3)


def open_missing_streams() -> None:
    """Open closed standard streams (``>&-``) on the null device, so that no file gets their number."""
    for number in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def print_any_character() -> None:
    """Write characters outside the terminal's encoding as escapes, so that no output ends in the middle."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_output(stream: TextIO) -> None:
    """Redirect ``stream`` to the null device: the interpreter flushes it on exit, but it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
