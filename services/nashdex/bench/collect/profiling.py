"""Flame graphs of a collector's CPU time and of its gateways'."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from types import FrameType

from nashdex.bench.collect.flame_graph import Stacks, collapsed, flame_graph, stacks_of_cpu_profile
from nashdex.bench.collect.self_play import Load, self_play
from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.game import ShowdownGame

_SAMPLE_SECONDS = 0.002


def profile_collecting(game: ShowdownGame, seconds: float, directory: Path) -> tuple[Path, ...]:
    """Collect for ``seconds`` under profilers and return the files written to ``directory``.

    For the collector and for its gateway: a flame graph as SVG, and collapsed stacks for other programs. Sampling takes
    time, so measure the rate without it.

    Raises:
        ConfigurationError: the directory cannot be created, the gateway cannot be started, or this system has no CPU
            clock per thread.
    """
    if not hasattr(time, "pthread_getcpuclockid"):
        raise ConfigurationError(
            f"{sys.platform} has no clock for each thread's CPU time, which --profile reads: use Linux"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{directory}: cannot create this directory for profiles ({error.strerror})"
        ) from error
    collector: Counter[tuple[str, ...]] = Counter()
    gateway: Counter[tuple[str, ...]] = Counter()
    with TemporaryDirectory() as folder:
        with self_play(Load(game, profile_directory=Path(folder))) as collecting, sampled(collector):
            began = time.monotonic()
            for _ in collecting.battles():
                if time.monotonic() - began > seconds:
                    break
        for profile in Path(folder).iterdir():
            gateway.update(stacks_of_cpu_profile(profile.read_text(encoding="utf-8"), profile.name))
    return (
        *_write(collector, directory, "collector", game.format),
        *_write(gateway, directory, "gateway", game.format),
    )


def _write(stacks: Stacks, directory: Path, name: str, format_id: str) -> tuple[Path, Path]:
    graph, text = directory / f"{name}.svg", directory / f"{name}.folded"
    graph.write_text(flame_graph(stacks, f"{name} of {format_id}"), encoding="utf-8")
    text.write_text(collapsed(stacks), encoding="utf-8")
    return graph, text


@contextmanager
def sampled(stacks: Counter[tuple[str, ...]]) -> Iterator[None]:
    """Add to ``stacks`` the CPU time, in microseconds, of each Python stack of each thread.

    The kernel interrupts every 2 ms of the process's CPU time. The time that a thread's own clock has advanced since
    the last interrupt is added to the thread's current stack. A C function counts as the Python function that called
    it. Call it from the main thread only.
    """
    clocks: dict[int, int] = {}

    def sample(signum: int, interrupted: FrameType | None) -> None:
        del signum
        own = sys._getframe()  # noqa: SLF001 - the documented way to look at frames, as below
        for thread, frame in sys._current_frames().items():  # noqa: SLF001
            now = time.clock_gettime_ns(time.pthread_getcpuclockid(thread))
            passed = (now - clocks.get(thread, now)) // 1000
            clocks[thread] = now
            if passed:
                stacks[_stack(interrupted if frame is own else frame)] += passed

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, _SAMPLE_SECONDS, _SAMPLE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stack(frame: FrameType | None) -> tuple[str, ...]:
    frames: list[str] = []
    while frame is not None:
        code = frame.f_code
        frames.append(f"{code.co_qualname} {PurePath(code.co_filename).name}")
        frame = frame.f_back
    return tuple(reversed(frames))
