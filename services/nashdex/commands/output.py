"""Output of commands: one JSON document, or lines of text, on standard output. Logs go to standard error."""

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from nashdex.core.redaction import clean

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")]


def print_json(document: Mapping[str, Any]) -> None:
    """Print ``document`` as JSON, in ASCII where standard output cannot hold every character."""
    is_ascii = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print_text(json.dumps(document, indent=2, ensure_ascii=is_ascii, allow_nan=False))


def print_text(text: str) -> None:
    """Print ``text`` and a newline, without secrets and control characters."""
    sys.stdout.write(f"{clean(text)}\n")


def print_note(text: str) -> None:
    """Print a line on standard error at once, because the results are on standard output."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()
