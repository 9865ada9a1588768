"""Children that start with all modules imported: forked from a server that does nothing but import.

A step of a small game takes a tenth of the time that Python needs for its imports, and a run has hundreds of steps.
Each step is still a process that leads its own group, with the arguments and the exit codes of ``nashdex``.
"""

import asyncio
import multiprocessing
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing import forkserver, reduction, resource_tracker
from typing import Any

from nashdex.core.errors import TryAgainError
from nashdex.core.stopping import shielding_children
from nashdex.games.registry import FORMATS
from nashdex.local.processes import PROGRESS_VARIABLE
from nashdex.oracles.registry import ORACLES
from nashdex.planning.dag import MODULES, iteration_steps
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.settings.run import RunSettings

_SERVER_LOST = 255
"""The exit code that multiprocessing gives a child whose server has died; nashdex has no such exit code."""
_STARTS = 3
_DEATH_SECONDS = 0.2
_LATE = (
    "nashdex.local.processes",
    "nashdex.local.warm_start",  # a child begins in this module
    "nashdex.metagame.solvers.nash",
    "nashdex.policies.scripted.baselines",
    "nashdex.report.assembly.report",
    "nashdex.report.page.render",
    "nashdex.store.verdict",
    "prometheus_client",
    "scipy.optimize",
    "typer._adapters",
)
"""What steps import inside functions, for the sake of other commands. Importing it can take longer than the step."""
_LATE_IN_TABULAR_GAMES = ("pyspiel",)
_LATE_IN_BATTLES = (
    "nashdex.evaluator.tournament",
    "nashdex.games.showdown.arena",
    "nashdex.games.showdown.game",
    "nashdex.games.showdown.poke_env_players",
)
_LATE_WITH_TORCH = (
    "nashdex.policies.archive",
    "torch",
    # What torch imports late itself: for deterministic algorithms and for tensors without memory.
    "torch._inductor",
    "torch.fx.experimental.symbolic_shapes",
)


_LAST = "nashdex.local.built"
"""Builds what the modules before it define."""


def is_available() -> bool:
    """Return whether children can start warm: only on Linux do libraries survive a fork."""
    return sys.platform == "linux"


class WarmChild:
    """A child of the server; ``processes.Child``."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        self._process = process
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(process.sentinel, self._on_end)

    @property
    def pid(self) -> int:
        """The process id, which is also the group id."""
        pid = self._process.pid
        assert pid is not None, "a started child has an id"
        return pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._exit_code() if self._ended.done() else None

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    async def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        await asyncio.shield(self._ended)
        code = self._exit_code()
        assert code is not None, "a child that has ended has an exit code"
        return code

    def _exit_code(self) -> int | None:
        """Return the exit code. A child whose server was killed counts as killed; the caller kills what is left."""
        code = self._process.exitcode
        return -signal.SIGKILL if code == _SERVER_LOST else code

    def _on_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process.sentinel)
        self._process.join()
        self._ended.set_result(None)


class WarmStart:
    """Starts commands of one program. The server starts with the first command and ends with this process.

    Args:
        main: ``module:function`` of the program; takes the arguments and returns the exit code.
        modules: modules that the server imports.
    """

    def __init__(self, main: str, modules: Sequence[str]) -> None:
        self._main = main
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([main.partition(":")[0], *modules])
        self._one_at_a_time = asyncio.Lock()

    async def __call__(
        self, command: Sequence[str], *, stdin: int, output: int, progress: int, environment: dict[str, str]
    ) -> WarmChild:
        """Start ``command``, which has no interpreter and program in front (``processes.Start``).

        A server that was killed is started again.

        Raises:
            TryAgainError: the server died while it started this command.
        """
        descriptors = (_Descriptor(stdin), _Descriptor(output), _Descriptor(progress))
        arguments = (self._main, list(command), *descriptors, environment)
        async with self._one_at_a_time:
            for left in reversed(range(_STARTS)):
                process = self._context.Process(target=_be_the_command, args=arguments)
                try:
                    await asyncio.to_thread(_start_undisturbed, process)
                    break
                except (OSError, EOFError) as error:
                    if not left:
                        raise TryAgainError(f"the process that starts steps was killed ({error})") from error
                await asyncio.sleep(_DEATH_SECONDS)  # until it counts as dead, and the next start brings another
        return WarmChild(process)

    def close(self) -> None:
        """Stop the server and multiprocessing's resource tracker, so that no process is left."""
        # There is no public way: both end shortly after this process.
        forkserver._forkserver._stop()  # type: ignore[attr-defined]  # noqa: SLF001
        resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]  # noqa: SLF001


def modules_of_steps(settings: RunSettings) -> list[str]:
    """Return the modules that the steps of a run import, those included that a step imports late."""
    steps = (MODULES[step.name] for step in iteration_steps(settings))
    modules = ["nashdex.runs.creation", "nashdex.telemetry.server", *steps, *_LATE]
    plays = FORMATS[settings.format].evidence.is_played
    modules += _LATE_IN_BATTLES if plays else _LATE_IN_TABULAR_GAMES
    trains = ORACLES[settings.train.oracle.kind]
    oracles = (trains, ORACLES[settings.train.first.kind]) if trains.improves else (trains,)
    modules += [oracle.train.partition(":")[0] for oracle in oracles]
    if plays or any(oracle.makes == "network" for oracle in oracles):
        modules += [*_LATE_WITH_TORCH, NETWORKS[settings.network.kind].implementation.partition(":")[0]]
    return [*modules, _LAST]


def _start_undisturbed(process: multiprocessing.process.BaseProcess) -> None:
    """Start a child. A server that starts with it inherits that SIGINT is blocked."""
    with shielding_children():
        process.start()


class _Descriptor:
    """A file descriptor that is passed to the child, where it has another number."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _take, (reduction.DupFd(self._number),)


def _take(duplicate: Any) -> int:  # noqa: ANN401 - multiprocessing does not name its type
    number: int = duplicate.detach()
    return number


def _be_the_command(
    main: str, command: list[str], stdin: int, output: int, progress: int, environment: dict[str, str]
) -> None:
    """Run one command as a new process would, and exit with its code."""
    os.setsid()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # forgets a Ctrl-C of the terminal, which the runner handles
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, before)
    for descriptor, standard in ((stdin, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, standard)
    sys.stdin = os.fdopen(0, closefd=False)
    os.environ.clear()
    os.environ.update(environment | {PROGRESS_VARIABLE: str(progress)})
    sys.exit(pkgutil.resolve_name(main)(command))
