"""Damaged stores, given to everything that reads one: it answers within its limits, and believes nothing altered.

An input's first byte chooses the reader and whether the hashes are made to fit afterwards; the rest is the damage
(``fuzz.damage``). Who rewrites every hash may change what is believed, but causes no traceback and no long work either.
The store also holds a run that is not touched, which must not suffer.
"""

import atexit
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest

from fuzz.damage import BYTES_OF_A_CHANGE, CHANGES, copied, damage, hash_again
from nashdex.core import keys
from nashdex.core.errors import ExitCode
from nashdex.core.journal import Entry, journal_folder
from nashdex.metagame.evidence import large
from nashdex.runs.creation import open_run
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from nashdex_cluster.exporter.service import FactCollector
from nashdex_cluster.exporter.watch import Watch
from support.begun_runs import begin_run
from support.made_runs import ROCK_PAPER_SCISSORS, finish_iteration
from support.results import published

_RUN, _OTHER = "fuzzed", "other"
_NUM_DONE, _NUM_ITERATIONS = 2, 3
_CONFIG = """
format = "matrix"
matrix = "matrix.json"
iterations = 3
[population]
initial = ["first-action"]
[collect]
shards = 1
[train]
oracle = "exact"
[evaluate]
shards = 2
[solve]
num_draws = 100
"""
_EXPECTED = {ExitCode.OK, ExitCode.CONFIGURATION, ExitCode.DATA, ExitCode.TRY_AGAIN}
_EVER_SECONDS = 1e12
_HASHES_FIT = 128
_SLASHES_IN_AN_ATTEMPT = 5
"""Of a key: iterations/0000/solve/00000/ATTEMPT/NAME; a published copy has fewer."""


class Stores:
    """Reads a damaged store with the exporter, ``status``, ``report``, ``verify``, and the steps that it lacks.

    Reports of more than ``most_listed`` policies have parts.
    """

    def __init__(self, most_listed: int = large.MOST_LISTED) -> None:
        self._most_listed = most_listed
        with self._listing():
            self._make()

    @contextmanager
    def _listing(self) -> Iterator[None]:
        usual = large.MOST_LISTED
        large.MOST_LISTED = self._most_listed  # type: ignore[misc]
        try:
            yield
        finally:
            large.MOST_LISTED = usual  # type: ignore[misc]

    def _make(self) -> None:
        memory = Path("/dev/shm")  # noqa: S108 - ten thousand stores are written
        self._folder = Path(
            tempfile.mkdtemp(prefix="nashdex-fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
        )
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._source, self._store = self._folder / "source", self._folder / "store"
        self._run = self._store / _RUN
        self._make_source()
        self._num_objects = sum(path.is_file() for path in (self._source / _RUN).rglob("*"))
        copied(self._source, self._store)
        self._other_facts = self._exported()
        assert self._other_facts, "the exporter shows the other run"
        for words in self._words():
            assert self._command(words) == ExitCode.OK, f"the run as it is is accepted: {words}"
        self._go_on()
        self._results = self._found()
        self._hashes_fit = False
        self._readers: tuple[Callable[[list[str]], None], ...] = (
            self._export,
            self._status,
            self._report,
            self._verify,
            self._resume,
        )

    def seeds(self) -> list[bytes]:
        """Return every kind of damage for every reader, spread over the objects."""
        seeds = []
        for reader in range(len(self._readers)):
            for change in range(len(CHANGES)):
                at = (reader * 31 + change * 7) % self._num_objects
                seeds.append(bytes([reader, change, at >> 8, at & 255, 17 * change & 255]))
                seeds.append(bytes([reader | _HASHES_FIT, change, at >> 8, at & 255, 29 * change & 255]))
        return seeds

    def read(self, data: bytes) -> None:
        """Damage the store and read it."""
        copied(self._source / _RUN, self._run)
        changed = damage(self._run, data[1 : 1 + 4 * BYTES_OF_A_CHANGE])
        first = data[0] if data else 0
        self._hashes_fit = bool(first & _HASHES_FIT)
        if self._hashes_fit:
            hash_again(self._run)
        with self._listing():
            self._readers[(first & ~_HASHES_FIT) % len(self._readers)](changed)

    def _make_source(self) -> None:
        settings = self._folder / "run.toml"
        settings.write_text(_CONFIG)
        size = range(len(ROCK_PAPER_SCISSORS))
        matrix = {"policies": [str(row) for row in size], "payoffs": ROCK_PAPER_SCISSORS}
        (self._folder / "matrix.json").write_text(json.dumps(matrix))
        with chdir(self._folder):
            for name in (_RUN, _OTHER):
                run = begin_run(str(self._source), settings, name=name)
                for iteration in range(_NUM_DONE):
                    finish_iteration(run.store, run.settings, iteration)
                for number in (1, 2):
                    key = f"{journal_folder(_NUM_DONE, 0)}/{number:08d}.json"
                    run.store.put(key, _entry(number).to_json())

    def _exported(self) -> list[bytes]:
        watch, collector, registry = (
            Watch(open_store(str(self._store)), _EVER_SECONDS),
            FactCollector(),
            CollectorRegistry(),
        )
        registry.register(collector)
        watch.scan()
        collector.runs = watch.active()
        # Which metric comes first depends on the first run that has it.
        return sorted(line for line in generate_latest(registry).splitlines() if f'run="{_OTHER}"'.encode() in line)

    def _export(self, _changed: list[str]) -> None:
        assert self._exported() == self._other_facts, "the other run's metrics changed"

    def _status(self, _changed: list[str]) -> None:
        self._command(self._words()[0])

    def _report(self, _changed: list[str]) -> None:
        self._command(self._words()[1])

    def _verify(self, changed: list[str]) -> None:
        code = self._command(self._words()[2])
        if code == ExitCode.OK and not self._hashes_fit:
            for key in changed:
                assert self._is_harmless(key), f"{key} was changed and verified"

    def _words(self) -> tuple[list[str], list[str], list[str]]:
        run = str(self._run)
        return (
            ["status", run, "--json"],
            ["report", run, "--output", str(self._folder / "report.html")],
            ["verify", run, "--json"],
        )

    def _resume(self, _changed: list[str]) -> None:
        self._go_on()
        assert self._hashes_fit or self._found() == self._results, "a changed run was continued and gave other results"

    def _go_on(self) -> None:
        run = open_run(str(self._run))
        for iteration in range(min(_NUM_ITERATIONS, run.settings.iterations)):
            finish_iteration(run.store, run.settings, iteration)

    def _found(self) -> object:
        return published(open_store(str(self._run)), range(_NUM_ITERATIONS))

    def _is_harmless(self, key: str) -> bool:
        """Say whether nothing follows from an object, or whether it says the same as before."""
        if key.startswith(f"{keys.LOGS}/") or f"/{keys.JOURNAL_ENTRIES}/" in key:
            return True
        if key.endswith("/manifest.json") and not (self._run / key).is_file():
            return True  # the shard is not done; a later one that is fails
        if (self._run / key).is_file():
            if key.count("/") == _SLASHES_IN_AN_ATTEMPT and self._is_of_a_shard_that_is_not_done(key):
                return True  # nothing reads the attempt
            return _values((self._run / key).read_bytes()) == _values((self._source / _RUN / key).read_bytes())
        return self._is_of_a_shard_that_is_not_done(key)

    def _is_of_a_shard_that_is_not_done(self, key: str) -> bool:
        shard = (self._run / key).parent.parent
        return key.startswith(f"{keys.ITERATIONS}/") and not (shard / "manifest.json").is_file()

    def _command(self, words: list[str]) -> int:
        standard = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in standard)
        try:
            code = run_command_line(words)
            said = ""
            for stream in (sys.stdout, sys.stderr):
                stream.seek(0)
                said += stream.read()
        finally:
            sys.stdout, sys.stderr = standard
        assert code in _EXPECTED, f"{' '.join(words)}: exit code {code}: {said[-2000:]}"
        assert "Traceback" not in said, said[-2000:]
        assert "\x1b" not in said, "an escape sequence of a name reaches the terminal"
        return code


def _entry(number: int) -> Entry:
    return Entry(
        round=number,
        request=f"{number:08d}-round",
        weights_sha256="0" * 64,
        episodes_sha256="0" * 64,
        battles=100,
        learned_decisions=3000,
        chunks_by_actor={0: 3},
        waited_seconds=1.0,
        staleness_seconds=20.0,
        staleness_versions=1.5,
        round_seconds=float(number),
        actors_seconds=30.0,
        actors_waited_seconds=10.0,
    )


def _values(data: bytes) -> object:
    """Return what a document says: a key without its value says what a missing key does."""
    try:
        return json.loads(
            data, object_hook=lambda found: {key: each for key, each in found.items() if each is not None}
        )
    except (ValueError, RecursionError):
        return data


def _without_nulls(found: dict[str, object]) -> dict[str, object]:
    return {key: each for key, each in found.items() if each is not None}
