"""One child process: leads its own process group, reports progress, and leaves no process behind."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Protocol


def stop_at_end_of_input(grace_seconds: float, stream: BinaryIO | None = None) -> None:
    """Watch standard input (or ``stream``) in the background, and stop this process at its end.

    The process gets SIGTERM. If it is still alive after ``grace_seconds``, it gets SIGKILL, and so does its whole group
    if it leads one; otherwise other jobs of the shell would die too.
    """
    watched = stream or sys.stdin.buffer
    threading.Thread(target=_watch, args=(watched, grace_seconds), name="lifeline", daemon=True).start()


def _watch(stream: BinaryIO, grace_seconds: float) -> None:
    # Read the descriptor, not the buffered stream: a daemon thread that holds a stream's lock blocks interpreter exit.
    while os.read(stream.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


PROGRESS_VARIABLE: Final = "NASHDEX_PROGRESS_FD"
_READ_LIMIT_BYTES = 1 << 20
_LAST_LINES_SECONDS = 1.0


class Child(Protocol):
    """A child process that leads its own group. This protocol is the whole of the surface."""

    @property
    def pid(self) -> int:
        """The process id, which is also the group id."""

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""

    def terminate(self) -> None:
        """Send SIGTERM, unless the process has ended."""

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
            progress: descriptor that stays open; the child finds its number in ``NASHDEX_PROGRESS_FD``.
            environment: the child's variables, except ``NASHDEX_PROGRESS_FD``.
        """


async def start_command(
    command: Sequence[str], *, stdin: int, output: int, progress: int, environment: dict[str, str]
) -> Child:
    """Start ``command`` as a new program (``Start``)."""
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

    Standard output and error are appended to ``log``. Standard input is a pipe that ends with this process. Lines that
    the child writes to the descriptor in ``NASHDEX_PROGRESS_FD`` go to ``on_line``. On cancellation the child gets
    SIGTERM and, after ``grace_seconds``, its whole group gets SIGKILL. No process of the group outlives this call.
    ``groups`` contains the child's group while it runs, so that a caller can kill it at once.
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
    """Stop a running child with SIGTERM, then its whole group with SIGKILL."""
    if process.returncode is not None:
        return
    # Signal the child alone, as Kubernetes does with a pod's first process: it saves and then closes its gateways.
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), grace_seconds)
    except TimeoutError:
        kill_group(process.pid)
        await process.wait()


def kill_group(group: int) -> None:
    """Send SIGKILL to all processes of a group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def stop_on_signals(groups: Collection[int], say: Callable[[str], None], message: str) -> list[signal.Signals]:
    """Cancel the current task on the first signal that asks to stop; on the second, kill process groups.

    ``say`` shows ``message`` on the first signal.

    Returns:
        The signals received so far: the list grows with each.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        received.append(number)
        if len(received) == 1 and task is not None:
            task.cancel()  # before the message, whose reader may be gone
            say(message)
        else:
            for group in groups:
                kill_group(group)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    return received


async def _listen(descriptor: int, on_line: Callable[[bytes], None]) -> None:
    """Pass each line of a pipe to ``on_line`` until its last writer has closed it."""
    reader, transport = await open_pipe(descriptor)
    try:
        while line := await reader.readline():
            on_line(line)
    finally:
        transport.close()


async def open_pipe(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """Return a reader of a pipe, and its transport, which closes the pipe."""
    reader = asyncio.StreamReader(limit=_READ_LIMIT_BYTES)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    return reader, transport


def last_error(log: Path, began: int) -> str | None:
    """Return the last error message that a process wrote in its log from offset ``began`` on."""
    with log.open("rb") as file:
        file.seek(began)
        lines = file.read().decode(errors="replace").splitlines()
    return next((line.removeprefix("error: ") for line in reversed(lines) if line.startswith("error: ")), None)
