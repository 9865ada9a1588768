"""One child process: started in a group of its own, listened to, and gone with all it started when it is left."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

PROGRESS_VARIABLE = "NASHDEX_PROGRESS_FD"
_READ_LIMIT_BYTES = 1 << 20
_LAST_LINES_SECONDS = 1.0


class Child(Protocol):
    """A child process that leads a group of its own. This is the whole of the surface."""

    @property
    def pid(self) -> int:
        """The process's id, which is its group's too."""

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""

    def terminate(self) -> None:
        """Send SIGTERM; nothing where it has ended."""

    async def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""


class Start(Protocol):
    """A way to start a child."""

    async def __call__(
        self, command: Sequence[str], *, stdin: int, output: int, progress: int, environment: dict[str, str]
    ) -> Child:
        """Start ``command`` as the leader of a new group.

        Args:
            command: program and arguments.
            stdin: descriptor that becomes its standard input.
            output: descriptor that becomes its standard output and error.
            progress: descriptor that stays open; its number in the child is in ``NASHDEX_PROGRESS_FD``.
            environment: all of the child's variables, that one excepted.
        """


async def start_command(
    command: Sequence[str], *, stdin: int, output: int, progress: int, environment: dict[str, str]
) -> Child:
    """Start ``command`` as any program is started: see ``Start``."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=stdin,
        stdout=output,
        stderr=output,
        pass_fds=(progress,),
        env=environment | {PROGRESS_VARIABLE: str(progress)},
        start_new_session=True,
    )


async def run_process(
    command: Sequence[str],
    *,
    start: Start,
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
            process = await start(
                command, stdin=lifeline, output=output.fileno(), progress=write_end, environment=environment
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


async def _stop(process: Child, grace_seconds: float) -> None:
    """End a child that still runs: politely, then with its whole group."""
    if process.returncode is not None:
        return
    # Only the child itself, as a pod's first process: it closes its gateways when it has saved.
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
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
