"""Whole commands, given hostile files: their exit code is that of an error of nashdex, and nothing is a defect."""

import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from fuzz import documents
from nashdex.core.errors import ExitCode
from nashdex_cli.cli import run_command_line

EXPECTED = {ExitCode.OK, ExitCode.CONFIGURATION, ExitCode.DATA, ExitCode.TRY_AGAIN}
_UNREAD = (".jsonl", ".html")

Words = Callable[[str, str], list[str]]
FILES: dict[str, tuple[str, Words]] = {
    "config": (".toml", lambda file, _: ["config", "show", file]),
    "solve": (".json", lambda file, _: ["solve", file, "--json"]),
    "rate": (".json", lambda file, _: ["rate", file, "--json"]),
}
"""Commands that read one file: its suffix, and the words given the file and a folder to write to."""
OF_RUNS: dict[str, Words] = {
    "verify": lambda run, _: ["verify", run, "--json"],
    "report": lambda run, out: ["report", run, "--output", f"{out}/report.html"],
    "cost": lambda run, _: ["cost", run, "--json"],
}
"""Commands that read a whole run, one of whose objects is replaced."""


class Commands:
    """The first byte of an input chooses the command, the second the object of a run, the rest is the content."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="nashdex-fuzz-"))
        self._names = [*FILES, *OF_RUNS]
        self._run = self._folder / "made-tabular-run"
        whole, _ = documents.tabular_run()
        self._objects = {key: data for key, data in whole.objects.items() if not key.endswith(_UNREAD)}
        self._keys = sorted(self._objects)
        for key, data in whole.objects.items():
            path = self._run / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for words in OF_RUNS.values():
            code = self._command(words(str(self._run), str(self._folder)))
            assert code == ExitCode.OK, f"the commands accept the run as it is: {words}"

    def seeds(self) -> list[bytes]:
        """Return a valid file of each command, and each object of the run for the commands in turn."""
        counts = {
            "policies": ["a", "b"],
            "wins": [[0, 1], [2, 0]],
            "draws": [[0, 0], [0, 0]],
            "games": [[0, 3], [3, 0]],
        }
        files = {
            "config": b'format = "kuhn_poker"\nseed = 1\n[collect]\nbattles = 10\n',
            "solve": json.dumps({"policies": ["a", "b"], "payoffs": [[0, 1], [-1, 0]]}).encode(),
            "rate": json.dumps(counts).encode(),
        }
        of_files = [bytes([self._names.index(name), 0]) + data for name, data in files.items()]
        numbers = [self._names.index(name) for name in OF_RUNS]
        of_runs = [
            bytes([numbers[place % len(numbers)], place]) + self._objects[key] for place, key in enumerate(self._keys)
        ]
        return of_files + of_runs

    def read(self, data: bytes) -> None:
        """Run the command."""
        name = self._names[data[0] % len(self._names)] if data else self._names[0]
        content = data[2:]
        if name in FILES:
            suffix, words = FILES[name]
            file = self._folder / f"input{suffix}"
            file.write_bytes(content)
            self._command(words(str(file), str(self._folder)))
            return
        key = self._keys[data[1] % len(self._keys)] if len(data) > 1 else self._keys[0]
        path = self._run / key
        path.write_bytes(content)
        try:
            code = self._command(OF_RUNS[name](str(self._run), str(self._folder)))
        finally:
            path.write_bytes(self._objects[key])
        if name == "verify" and code == ExitCode.OK:
            assert _values(content) == _values(self._objects[key]), f"{key} was changed and verified"

    def _command(self, words: list[str]) -> int:
        standard = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in standard)
        try:
            code = run_command_line(words)
            sys.stderr.seek(0)
            said = sys.stderr.read()
        finally:
            sys.stdout, sys.stderr = standard
        assert code in EXPECTED, f"{' '.join(words)}: exit code {code}: {said[-2000:]}"
        assert "Traceback" not in said, said[-2000:]
        return code


def _values(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return data
