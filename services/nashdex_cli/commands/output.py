"""What commands print: JSON, text, notes and counts, on standard streams that are made safe."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from nashdex.core.errors import ConfigurationError
from nashdex.core.redaction import clean

if TYPE_CHECKING:
    from pydantic import BaseModel

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")]


def print_json(document: Mapping[str, Any]) -> None:
    """Print ``document`` as JSON, in ASCII where standard output cannot hold every character."""
    is_ascii = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print_text(json.dumps(document, indent=2, ensure_ascii=is_ascii, allow_nan=False))


def print_text(text: str) -> None:
    """Print ``text`` and a newline, without secrets and control characters."""
    sys.stdout.write(f"{clean(text)}\n")


def print_answer(answer: "Mapping[str, Any] | BaseModel", lines: Iterable[str], *, as_json: bool) -> None:
    """Print the answer of a command: as one JSON document, or as ``lines``."""
    if as_json:
        print_json(answer if isinstance(answer, Mapping) else answer.model_dump(mode="json"))
        return
    for line in lines:
        print_text(line)


def print_note(text: str) -> None:
    """Print a line on standard error at once, because the results are on standard output."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


_TERMINAL_EVERY_SECONDS: Final = 0.2
_LINE_EVERY_SECONDS: Final = 10.0


@contextmanager
def counter(unit: str) -> Iterator[Callable[[int], None]]:
    """Yield what to call with the number of units done so far."""
    is_terminal = sys.stderr.isatty()
    every = _TERMINAL_EVERY_SECONDS if is_terminal else _LINE_EVERY_SECONDS
    began_seconds = shown_seconds = time.monotonic()

    def show(done: int) -> None:
        nonlocal shown_seconds
        now = time.monotonic()
        if now - shown_seconds < every:
            return
        shown_seconds = now
        text = f"{done:,} {unit}, {done / (now - began_seconds):.1f} a second"
        sys.stderr.write(f"\r{text}" if is_terminal else f"{text}\n")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


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


def write_outputs(folder: Path, values: Mapping[str, int]) -> None:
    """Write each value to the file of its name in ``folder``, for Argo Workflows.

    Raises:
        ConfigurationError: they cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in values.items():
            (folder / name).write_text(str(value))
    except OSError as error:
        raise ConfigurationError(f"--outputs {folder}: cannot be written ({error.strerror})") from error
