"""Children that start with all modules imported: forked from a server that does nothing but import.

The server is a fork of the command's process; where that cannot be forked, and after it was killed, a new program.
A step of a small game takes a tenth of the time that Python needs for its imports, and a run has hundreds of steps.
Each step is still a process that leads its own group, with the arguments and the exit codes of ``nashdex``.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from nashdex.core.errors import TryAgainError
from nashdex.core.stopping import blocking_interrupts
from nashdex.games.registry import FORMATS
from nashdex.local.processes import open_pipe
from nashdex.local.warm_server import send_request, serve
from nashdex.metagame.solvers.registry import META_SOLVERS
from nashdex.oracles.registry import ORACLES
from nashdex.planning.dag import MODULES, iteration_steps
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES
from nashdex.settings.run import RunSettings

_STARTS = 3
_SERVE = "import sys; from nashdex.local.warm_server import serve_from_arguments; serve_from_arguments(sys.argv[1:])"
_LIBRARIES = ("scipy.optimize", "typer._adapters")
_LIBRARIES_OF_TABULAR_GAMES = ("pyspiel",)
# What torch imports late itself: for deterministic algorithms and for tensors without memory.
_LIBRARIES_OF_NETWORKS = ("torch", "torch._inductor", "torch.fx.experimental.symbolic_shapes")


def is_available() -> bool:
    """Return whether children can start warm: only on Linux do libraries survive a fork."""
    return sys.platform == "linux"


class WarmChild:
    """A child of the server; ``processes.Child``."""

    def __init__(self, pid: int, reply: asyncio.StreamReader, transport: asyncio.ReadTransport) -> None:
        self._pid = pid
        self._end = asyncio.create_task(_read_end(reply, transport))

    @property
    def pid(self) -> int:
        """The process id, which is also the group id."""
        return self._pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._end.result() if self._end.done() else None

    def terminate(self) -> None:
        """Send SIGTERM."""
        os.kill(self._pid, signal.SIGTERM)

    async def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        return await asyncio.shield(self._end)


async def _read_end(reply: asyncio.StreamReader, transport: asyncio.ReadTransport) -> int:
    """Return the exit code. A child whose server was killed counts as killed; the caller kills what is left."""
    try:
        line = await reply.readline()
    finally:
        transport.close()
    return int(line) if line else -signal.SIGKILL


class WarmStart:
    """Starts commands of one program. Its server ends with this process.

    Args:
        main: ``module:function`` of the program; takes the arguments and returns the exit code.
        modules: modules that the server imports.
    """

    def __init__(self, main: str, modules: Sequence[str]) -> None:
        self._main = main
        self._modules = [main.partition(":")[0], *modules]
        self._server: _Server | None = None
        self._one_at_a_time = asyncio.Lock()

    def fork_server(self) -> None:
        """Start the server now, as a fork of this process, whose imports it need not repeat.

        It does not fork what cannot be forked, threads and CUDA: then the first command starts a new program.
        """
        if threading.active_count() == 1 and "torch" not in sys.modules:
            self._server = _forked_server(self._main, self._modules)

    async def __call__(
        self, command: Sequence[str], *, stdin: int, output: int, progress: int, environment: dict[str, str]
    ) -> WarmChild:
        """Start ``command``, which has no interpreter and program in front (``processes.Start``).

        A server that was killed is started again.

        Raises:
            TryAgainError: the server died while it started this command.
        """
        async with self._one_at_a_time:
            for _ in range(_STARTS):
                self._server = self._server or _new_server(self._main, self._modules)
                read_end, write_end = os.pipe()
                with suppress(OSError):  # it is dead, which shows below
                    send_request(self._server.socket, command, environment, (stdin, output, progress, write_end))
                os.close(write_end)
                reply, transport = await open_pipe(read_end)
                if line := await reply.readline():
                    return WarmChild(int(line), reply, transport)
                transport.close()
                self.close()
        raise TryAgainError("the process that starts steps was killed")

    def close(self) -> None:
        """End the server, so that no process is left."""
        if self._server is not None:
            self._server.close()
            self._server = None


@dataclass(frozen=True)
class _Server:
    socket: socket.socket
    pid: int
    wait: Callable[[], object]

    def close(self) -> None:
        self.socket.close()
        os.kill(self.pid, signal.SIGTERM)  # it may be importing
        self.wait()


def _forked_server(main: str, modules: Sequence[str]) -> _Server:
    ours, its = socket.socketpair()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or both processes would write what is left
    with blocking_interrupts():
        pid = os.fork()
        if pid == 0:
            try:
                ours.close()
                serve(its, main, modules)
            finally:
                os._exit(0)
    its.close()
    return _Server(ours, pid, lambda: os.waitpid(pid, 0))


def _new_server(main: str, modules: Sequence[str]) -> _Server:
    ours, its = socket.socketpair()
    arguments = [str(its.fileno()), json.dumps(sys.path), main, *modules]
    with its, blocking_interrupts():
        command = [sys.executable, "-c", _SERVE, *arguments]
        process = subprocess.Popen(command, pass_fds=(its.fileno(),))  # noqa: S603 - this interpreter, our own module
    return _Server(ours, process.pid, process.wait)


def modules_of_steps(settings: RunSettings) -> list[str]:
    """Return the modules that the steps of a run import: their own, and those behind what the settings choose."""
    modules = [*(MODULES[step.name] for step in iteration_steps(settings)), *_LIBRARIES]
    modules.append(META_SOLVERS.module_of(settings.solve.meta_solver.kind))
    scripted = {*settings.population.initial, settings.collect.teacher} & {*SCRIPTED_POLICIES.names}
    modules += sorted(SCRIPTED_POLICIES[name].module for name in scripted)
    trains = ORACLES[settings.train.oracle.kind]
    oracles = (trains, ORACLES[settings.train.first.kind]) if trains.improves else (trains,)
    modules += [oracle.train.partition(":")[0] for oracle in oracles]
    plays = FORMATS[settings.format].evidence.is_played
    if not plays:
        modules += _LIBRARIES_OF_TABULAR_GAMES
    if plays or any(oracle.makes == "network" for oracle in oracles):
        modules += [*_LIBRARIES_OF_NETWORKS, NETWORKS[settings.network.kind].implementation.partition(":")[0]]
    return modules
