"""Flame graphs of a collector's CPU time and of its gateways' (Gregg 2016, "The flame graph").

A stack is a tuple of frames from the outermost in. Collapsed stacks (``outer;inner 42``, one a line) are what
flamegraph.pl, speedscope and inferno read; the SVG needs none of them.
"""

import json
import signal
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from itertools import groupby
from pathlib import Path, PurePath, PurePosixPath
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, TypeAlias

from nashdex.bench.collect.self_play import Load, self_play
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.showdown.game import ShowdownGame

Stacks: TypeAlias = Mapping[tuple[str, ...], int]
"""Microseconds by stack."""

_WIDTH = 1200.0
_ROW_HEIGHT = 17
_MARGIN_TOP = 34
_CHARACTER_WIDTH = 6.6
_LEAST_WIDTH = 0.3
"""In pixels. Narrower boxes are invisible and are left out."""
_LEAST_LETTERS = 4

_Counted: TypeAlias = tuple[tuple[str, ...], int]


def collapsed(stacks: Stacks) -> str:
    """Return ``stacks`` as collapsed text, microseconds as counts."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(stacks.items()) if count)


def stacks_of_cpu_profile(text: str, source: str) -> Stacks:
    """Return the stacks of a V8 CPU profile (``node --cpu-prof``), without idle time.

    Raises:
        DataError: the text is not such a profile. ``source`` names it.
    """
    try:
        profile: dict[str, Any] = json.loads(text)
        nodes = {node["id"]: node for node in profile["nodes"]}
        parents = {child: node["id"] for node in profile["nodes"] for child in node.get("children", ())}
        times = Counter[int]()
        for node_id, microseconds in zip(profile["samples"], profile["timeDeltas"], strict=True):
            times[node_id] += max(0, microseconds)
        stacks = Counter[tuple[str, ...]]()
        for node_id, microseconds in times.items():
            if nodes[node_id]["callFrame"]["functionName"] == "(idle)":
                continue
            frames = []
            at: int | None = node_id
            while at in parents:  # the root, which is not a function, has none
                frames.append(_v8_frame(nodes[at]["callFrame"]))
                at = parents[at]
            stacks[tuple(reversed(frames))] += microseconds
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{source} is not a V8 CPU profile: {error!r}") from error
    return stacks


def _v8_frame(frame: Mapping[str, Any]) -> str:
    name = (frame["functionName"] or "(anonymous)").replace(";", ":")  # which separates frames in collapsed stacks
    file = PurePosixPath(frame["url"]).name
    return f"{name} {file}:{frame['lineNumber'] + 1}" if file else name


def flame_graph(stacks: Stacks, title: str) -> str:
    """Return an SVG. Each box is a function, as wide as its share of the time, on top of its caller.

    Hovering shows a box's name and share. Equal functions have equal colours, and boxes are in alphabetical order, so
    that two graphs can be compared.
    """
    total = sum(stacks.values())
    base = f"{total / 1e6:.1f} s sampled"
    ordered = sorted(((base, *stack), count) for stack, count in stacks.items() if count > 0)
    height = _MARGIN_TOP + max((len(stack) for stack, _ in ordered), default=0) * _ROW_HEIGHT
    boxes = _boxes(ordered, 0, 0, total, height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {height}" font-family="monospace" '
        f'font-size="11">\n<rect width="100%" height="100%" fill="#fff"/>\n'
        f'<text x="8" y="20" font-size="14">{escape(title)}</text>\n{"".join(boxes)}</svg>\n'
    )


def _boxes(ordered: Sequence[_Counted], level: int, start: int, total: int, height: int) -> list[str]:
    """Return the boxes from ``level`` on, for sorted stacks whose frames below it are equal."""
    boxes: list[str] = []
    for frame, group in groupby(ordered, lambda counted: counted[0][level] if len(counted[0]) > level else None):
        stacks = list(group)
        count = sum(count for _, count in stacks)
        # A stack that ends below this level is its last function's own time: it has no box on top.
        if frame is not None and count / total * _WIDTH >= _LEAST_WIDTH:
            boxes.append(_box(frame, start / total, count / total, height - (level + 1) * _ROW_HEIGHT))
            boxes += _boxes(stacks, level + 1, start, total, height)
        start += count
    return boxes


def _box(name: str, start: float, share: float, y: int) -> str:
    """Return one box with as much of its name as fits."""
    room = int(share * _WIDTH / _CHARACTER_WIDTH) - 1
    label = name if len(name) <= room else f"{name[: room - 1]}…" if room >= _LEAST_LETTERS else ""
    x, hue = start * _WIDTH, zlib.crc32(name.encode()) % 55
    return (
        f"<g><title>{escape(name)}: {share:.1%}</title>"
        f'<rect x="{x:.1f}" y="{y}" width="{share * _WIDTH:.1f}" height="{_ROW_HEIGHT - 1}" fill="hsl({hue},75%,66%)"/>'
        f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(label)}</text></g>\n'
    )


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
