"""Passes on what a run says, now and then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

_EVERY_SECONDS = 60.0
_MAX_LINE_BYTES = 4096


@asynccontextmanager
async def newest_lines(
    log: Path, say: Callable[[str], None], *, every_seconds: float = _EVERY_SECONDS
) -> AsyncIterator[None]:
    """Pass the last line of ``log`` to ``say`` at intervals, where it is another than before."""

    async def report(said: str) -> None:
        while True:
            await asyncio.sleep(every_seconds)
            if (line := last_line(log)) != said:
                say(line)
                said = line

    reporting = asyncio.create_task(report(last_line(log)))
    try:
        yield
    finally:
        reporting.cancel()


def last_line(log: Path) -> str:
    """Return the last line of a log, empty if there is none."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _MAX_LINE_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return lines[-1] if lines else ""
