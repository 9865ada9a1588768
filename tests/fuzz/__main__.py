"""``python -m fuzz [--seconds S] [--seed N] [TARGET...]``: mutate inputs that reach new lines, and report what escapes.

Exits with 1 if a reader raised anything but an error of nashdex, took more than a second, or more than the memory
limit. Such an input is written to ``corpus/TARGET/``; every later run begins with it, so it is a regression test.
"""

import argparse
import hashlib
import random
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Self

from fuzz.targets import Target, targets
from nashdex.core.errors import NashdexError

CORPUS = Path(__file__).parent / "corpus"
MOST_BYTES = 64 << 10
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


def failure_of(target: Target, data: bytes, coverage: Coverage) -> str | None:
    """Read ``data``; return what a reader must not do, or None."""
    began = time.monotonic()
    try:
        with coverage:
            target.read(data)
    except NashdexError:
        pass
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "".join(traceback.format_exception(error)[-3:])
    seconds = time.monotonic() - began
    return f"took {seconds:.1f} s" if seconds > SLOW_SECONDS else None


def main() -> int:
    """Fuzz the targets that the command line names; by default all."""
    import nashdex  # noqa: PLC0415 - only its place is of interest

    every = targets()
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seconds", type=float, default=60.0, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + GROWTH_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (max(limit, 2 * GROWTH_BYTES), resource.RLIM_INFINITY))
    generator = random.Random(options.seed)
    failures = tried = 0
    names = options.targets or list(every)
    for name in names:
        target, coverage = every[name], Coverage(nashdex)
        kept = [*target.seeds, *(path.read_bytes() for path in sorted((CORPUS / name).glob("*")))]
        queue = list(kept)
        failure_of(target, kept[0], coverage)  # imports, which take longer than any input may
        until = time.monotonic() + options.seconds / len(names)
        seen: set[str] = set()
        count = 0
        while queue or time.monotonic() < until:
            data = queue.pop() if queue else mutated(generator.choice(kept), kept, generator)
            before, count = len(coverage.lines), count + 1
            failure = failure_of(target, data, coverage)
            if failure is not None and failure not in seen:
                seen.add(failure)
                (CORPUS / name).mkdir(parents=True, exist_ok=True)
                path = CORPUS / name / hashlib.sha256(data).hexdigest()[:16]
                path.write_bytes(data)
                sys.stdout.write(f"{name}: {path}\n{failure}\n")
            elif len(coverage.lines) > before and data not in kept:
                kept.append(data)
        failures, tried = failures + len(seen), tried + count
        reached = f"{len(kept)} kept, {len(coverage.lines)} lines"
        sys.stdout.write(f"{name}: {count} inputs, {reached}, {len(seen)} failures\n")
    sys.stdout.write(f"{tried} inputs, {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
