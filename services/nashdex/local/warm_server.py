"""The server of warm children: imports what the steps of a run need, then forks a child for each request.

A request is a message on a socket of the runner's with four descriptors: standard input, output, progress and the
reply. On the reply the server writes the child's process id, then its exit code, a line each. It ends with the socket.
"""

import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import Process
from typing import Final

from nashdex.local.processes import PROGRESS_VARIABLE

_LENGTH: Final = struct.Struct("!I")
_NUM_DESCRIPTORS: Final = 4
_READ_BYTES: Final = 4096


def send_request(
    server: socket.socket, command: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
) -> None:
    """Ask the server at the other end to start ``command`` (``serve``).

    Raises:
        OSError: it is lost.
    """
    message = json.dumps([list(command), dict(environment)]).encode()
    socket.send_fds(server, [_LENGTH.pack(len(message))], descriptors)
    server.sendall(message)


def serve(runner: socket.socket, main: str, modules: Sequence[str]) -> None:
    """Serve the requests of ``runner`` until it closes its end.

    Args:
        runner: the server's end of the socket.
        main: ``module:function`` of the program that children run; takes the arguments and returns the exit code.
        modules: modules to import before the first child starts.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches this process too, and the runner handles it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    replies: dict[int, int] = {}
    with _ends_of_children() as ended, selectors.DefaultSelector() as ready:
        ready.register(runner, selectors.EVENT_READ)
        ready.register(ended, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is ended:
                    ended.recv(_READ_BYTES)
                    _report_ends(replies)
                elif (request := _receive(runner)) is None:
                    return
                else:
                    for module in modules:  # nothing once they are imported
                        with suppress(ImportError):  # the step that needs it says so
                            importlib.import_module(module)
                    _start(runner, main, *request, replies)


def serve_from_arguments(arguments: Sequence[str]) -> None:
    """Serve in a new interpreter: the arguments are the socket, the path for imports, and what ``serve`` takes."""
    descriptor, path, main, *modules = arguments
    sys.path[:] = json.loads(path)
    serve(socket.socket(fileno=int(descriptor)), main, modules)


def _ends_of_children() -> socket.socket:
    """Return a socket that can be read once children have ended."""
    ended, tell = socket.socketpair()
    for end in (ended, tell):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler is what makes Python write to the descriptor
    signal.set_wakeup_fd(tell.detach(), warn_on_full_buffer=False)
    return ended


def _receive(runner: socket.socket) -> tuple[list[str], dict[str, str], list[int]] | None:
    """Return the command, the environment and the descriptors of a request; None at the end."""
    header, descriptors, _, _ = socket.recv_fds(runner, _LENGTH.size, _NUM_DESCRIPTORS)
    if not header:
        return None
    (length,) = _LENGTH.unpack(header)
    message = runner.recv(length, socket.MSG_WAITALL)
    if len(message) < length:
        return None
    command, environment = json.loads(message)
    return command, environment, descriptors


def _start(
    runner: socket.socket,
    main: str,
    command: list[str],
    environment: dict[str, str],
    descriptors: list[int],
    replies: dict[int, int],
) -> None:
    *standard, reply = descriptors
    pid = os.fork()
    if pid == 0:
        runner.close()  # or the runner would not see that the server is lost
        for other in (*replies.values(), reply):
            os.close(other)
        # multiprocessing's way to run a function and to end: threads, output, and the exit code of an exception.
        child = Process(target=_be_the_command, args=(main, command, environment, *standard))
        os._exit(child._bootstrap())  # type: ignore[attr-defined]  # noqa: SLF001
    for descriptor in standard:
        os.close(descriptor)
    replies[pid] = reply
    _write(reply, pid)


def _be_the_command(
    main: str, command: list[str], environment: dict[str, str], stdin: int, output: int, progress: int
) -> None:
    """Run one command as a new process would, and exit with its code."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, standard in ((stdin, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, standard)
    sys.stdin = os.fdopen(0, closefd=False)
    os.environ.clear()
    os.environ.update(environment | {PROGRESS_VARIABLE: str(progress)})
    sys.exit(pkgutil.resolve_name(main)(command))


def _report_ends(replies: dict[int, int]) -> None:
    """Write the exit codes of the children that have ended."""
    with suppress(ChildProcessError):  # none is left
        while (end := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = end
            if (reply := replies.pop(pid, None)) is not None:
                _write(reply, os.waitstatus_to_exitcode(status))
                os.close(reply)


def _write(reply: int, number: int) -> None:
    with suppress(OSError):  # the runner is gone, and so are its steps soon
        os.write(reply, b"%d\n" % number)
