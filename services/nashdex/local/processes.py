"""One child process: started in a group of its own, listened to, and gone with all it started when it is left."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

PROGRESS_VARIABLE = "NASHDEX_PROGRESS_FD"
_READ_LIMIT_BYTES = 1 << 20
_LAST_LINES_SECONDS = 1.0


async def run_process(
    command: Sequence[str],
    *,
    log: Path,
    on_line: Callable[[bytes], None],
    groups: set[int],
    grace_seconds: float,
    environment: dict[str, str],
) -> int:
    """Run ``command`` to its end and return its exit code, negative for a signal.

    Standard output and error are appended to ``log``. Standard input is a pipe that ends when this process does.
    Lines that the child writes to the descriptor named by ``NASHDEX_PROGRESS_FD`` go to ``on_line``. When cancelled,
    the child gets SIGTERM and, after ``grace_seconds``, its whole group SIGKILL. Whatever happens, nothing of its
    group is left. ``groups`` holds the child's group while it runs, for those who cannot wait that long.
    """
    read_end, write_end = os.pipe()
    lifeline, lifeline_held = os.pipe()
    try:
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=lifeline,
                stdout=output,
                stderr=output,
                pass_fds=(write_end,),
                env=environment | {PROGRESS_VARIABLE: str(write_end)},
                start_new_session=True,
            )
    except BaseException:
        os.close(read_end)
        os.close(lifeline_held)
        raise
    finally:
        os.close(write_end)
        os.close(lifeline)
    groups.add(process.pid)
    listener = asyncio.create_task(_listen(read_end, on_line))
    try:
        return await process.wait()
    finally:
        try:
            await _stop(process, grace_seconds)
        finally:
            kill_group(process.pid)
            groups.discard(process.pid)
            os.close(lifeline_held)
            await asyncio.wait({listener}, timeout=_LAST_LINES_SECONDS)
            listener.cancel()


async def _stop(process: asyncio.subprocess.Process, grace_seconds: float) -> None:
    """End a child that still runs: politely, then with its whole group."""
    if process.returncode is not None:
        return
    # Only the child itself, as a pod's first process: it closes its gateways when it has saved.
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), grace_seconds)
    except TimeoutError:
        kill_group(process.pid)
        await process.wait()


def kill_group(group: int) -> None:
    """Send SIGKILL to what is left of a process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


async def _listen(descriptor: int, on_line: Callable[[bytes], None]) -> None:
    """Hand each line of a pipe to ``on_line`` until its last writer has closed it."""
    reader = asyncio.StreamReader(limit=_READ_LIMIT_BYTES)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    try:
        while line := await reader.readline():
            on_line(line)
    finally:
        transport.close()
