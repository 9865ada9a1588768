"""``python -m fuzz [--seconds S] [--inputs N] [--seed N] [--grow] [TARGET...]``: mutate inputs that reach new lines.

Exits with 1 if a reader raised anything but an error of nashdex, took more than some seconds, or more memory than the
limit. Such an input is written to ``corpus/TARGET/``; every later run begins with it, so it is a regression test. With
``--grow``, small inputs that reach new lines are written there too: later runs begin where this one ended.
"""

import argparse
import hashlib
import logging
import random
import resource
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Self

import psutil
import structlog

from fuzz.targets import Target, targets
from nashdex.core.errors import NashdexError

CORPUS = Path(__file__).parent / "corpus"
MOST_BYTES = 64 << 10
MOST_CORPUS_BYTES = 2 << 10
MOST_CORPUS_INPUTS = 12
"""Of a target, besides those that failed: the corpus is part of the repository."""
GROWTH_BYTES = 1 << 30
SLOW_SECONDS = 5.0
WORDS = [b"null", b"-1", b"1e400", b"9" * 400, b"[" * 2000, b"{}", b'""', b"\xff\xfe", b"\0" * 8, b"\xff" * 8, b"NaN"]


class Coverage:
    """Lines of nashdex that one input reaches."""

    def __init__(self, nashdex: ModuleType) -> None:
        self._root = str(Path(str(nashdex.__file__)).parent)
        self.lines: set[tuple[str, int]] = set()

    def _trace(self, frame: FrameType, event: str, _argument: object) -> "object":
        if event == "call" and not frame.f_code.co_filename.startswith(self._root):
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._trace

    def __enter__(self) -> Self:
        sys.settrace(self._trace)  # type: ignore[arg-type]
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)


def mutated(data: bytes, others: Sequence[bytes], generator: random.Random) -> bytes:
    """Return ``data`` after one to four changes."""
    changed = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        at = generator.randint(0, len(changed))
        end = min(len(changed), at + generator.choice((1, 1, 2, 4, 8, 64)))
        match generator.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << generator.randrange(8)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = generator.choice(WORDS)
            case 3:
                changed[at:end] = generator.choice(WORDS)
            case 4:
                other = generator.choice(others)
                start = generator.randint(0, len(other))
                changed[at:end] = other[start : start + generator.choice((1, 8, 64))]
            case _:
                changed[at:at] = changed[at:end] * generator.choice((1, 3))
    return bytes(changed[:MOST_BYTES])


@contextmanager
def memory_limit() -> Iterator[None]:
    """Allow the process ``GROWTH_BYTES`` more than it has: an input that needs more raises MemoryError."""
    has = psutil.Process().memory_info().data if sys.platform == "linux" else 0
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if has:
        resource.setrlimit(resource.RLIMIT_DATA, (has + GROWTH_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def failure_of(target: Target, data: bytes, coverage: Coverage) -> str | None:
    """Read ``data``; return what a reader must not do, or None."""
    began = time.process_time()  # a busy machine fails no input
    try:
        with coverage:
            target.read(data)
    except NashdexError:
        pass
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "".join(traceback.format_exception(error)[-3:])
    seconds = time.process_time() - began
    return f"took {seconds:.1f} s of CPU time" if seconds > SLOW_SECONDS else None


class Fuzzing:
    """One target's mutation, from its seeds and its corpus on."""

    def __init__(self, name: str, target: Target, generator: random.Random, *, grows: bool = False) -> None:
        import nashdex  # noqa: PLC0415 - only its place is of interest

        self.name = name
        self.target = target
        self.num_inputs = 0
        self.failures: set[str] = set()
        self._generator = generator
        self._coverage = Coverage(nashdex)
        self._grows, self._num_written = grows, len(list((CORPUS / name).glob("*")))
        self._kept = [*target.seeds, *(path.read_bytes() for path in sorted((CORPUS / name).glob("*")))]

    def run(self, seconds: float, num_inputs: int) -> None:
        """Read what is kept, then mutations: for ``seconds``, and at least ``num_inputs`` inputs in all."""
        failure_of(self.target, self._kept[0], self._coverage)  # imports, which take longer than any input may
        for data in list(self._kept):
            self._read(data)
        until = time.monotonic() + seconds
        while time.monotonic() < until or self.num_inputs < num_inputs:
            self._read(mutated(self._generator.choice(self._kept), self._kept, self._generator))

    def _read(self, data: bytes) -> None:
        before, self.num_inputs = len(self._coverage.lines), self.num_inputs + 1
        failure = failure_of(self.target, data, self._coverage)
        if failure is None:
            if len(self._coverage.lines) > before and data not in self._kept:
                self._kept.append(data)
                if self._grows and len(data) <= MOST_CORPUS_BYTES and self._num_written < MOST_CORPUS_INPUTS:
                    self._num_written += 1
                    self._write(data)
        elif failure not in self.failures:
            self.failures.add(failure)
            sys.stdout.write(f"{self.name}: {self._write(data)}\n{failure}\n")

    def _write(self, data: bytes) -> Path:
        """Write ``data`` to the corpus and return its path."""
        folder = CORPUS / self.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha256(data).hexdigest()[:16]
        path.write_bytes(data)
        return path

    def __str__(self) -> str:
        reached = f"{len(self._kept)} kept, {len(self._coverage.lines)} lines"
        return f"{self.name}: {self.num_inputs} inputs, {reached}, {len(self.failures)} failures"


def main() -> int:
    """Fuzz the targets that the command line names; by default all."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    every = targets()
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seconds", type=float, default=60.0, help="in all")
    parser.add_argument("--inputs", type=int, default=0, help="in all, at least, however long they take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--grow", action="store_true", help="add small inputs that reach new lines to the corpus")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    for name in (name for name in options.targets if name not in every):
        parser.error(f"no target {name}; expected some of {', '.join(every)}")
    names = options.targets or list(every)
    # Each target has its own: how fast a machine is decides how far a target gets, not what its inputs are.
    generators = {name: random.Random(f"{options.seed} {name}") for name in names}
    fuzzed = [Fuzzing(name, every[name], generators[name], grows=options.grow) for name in names]
    for each in fuzzed:
        with memory_limit():
            each.run(options.seconds / len(names), -(-options.inputs // len(names)))
        sys.stdout.write(f"{each}\n")
        sys.stdout.flush()
    failures = sum(len(each.failures) for each in fuzzed)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{largest} MiB at most\n{sum(e.num_inputs for e in fuzzed)} inputs, {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
