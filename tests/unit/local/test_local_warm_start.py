"""Children that start warm behave as programs do: log, progress, exit codes, signals."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from nashdex.local import warm_start
from nashdex.local.processes import Child, kill_group, run_process
from nashdex.local.warm_start import WarmStart
from support.processes import command_line

pytestmark = pytest.mark.skipif(not warm_start.is_available(), reason="children start warm on Linux only")

START = WarmStart("support.warm_program:main", [])


@pytest.fixture(autouse=True, scope="module")
def _without_a_server_in_the_end() -> Iterator[None]:
    yield
    START.close()


def run(log: Path, *command: str, lines: list[bytes] | None = None, groups: set[int] | None = None) -> int:
    return asyncio.run(
        run_process(
            command,
            start=START,
            log=log,
            on_line=([] if lines is None else lines).append,
            groups=set() if groups is None else groups,
            grace_seconds=0.5,
            environment={"ONLY": "this"},
        )
    )


def test_log_progress_and_environment(tmp_path: Path) -> None:
    lines: list[bytes] = []
    groups: set[int] = set()
    assert run(tmp_path / "log", "say", lines=lines, groups=groups) == 0
    assert lines == [b"to the runner\n"]
    assert groups == set()
    log = (tmp_path / "log").read_text().splitlines()
    assert sorted(log[:2]) == ["to the log", "to the log too"]
    about, _, parent = log[2].rpartition(" ")
    assert about == "['NASHDEX_PROGRESS_FD', 'ONLY'] True"
    assert int(parent) != os.getpid(), "started by this process, not by the server"


@pytest.mark.parametrize("code", [0, 64, 75, 143])
def test_exit_codes(tmp_path: Path, code: int) -> None:
    assert run(tmp_path / "log", "exit", str(code)) == code


async def _ended_by(log: Path, what: str, end: Callable[[Child], None]) -> int:
    read_end, write_end = os.pipe()
    with log.open("ab") as output:
        child = await START([what], stdin=read_end, output=output.fileno(), progress=output.fileno(), environment={})
    os.close(read_end)
    before = child.returncode
    end(child)
    try:
        code = await asyncio.wait_for(child.wait(), 600)
    finally:
        kill_group(child.pid)
        os.close(write_end)
    assert (before, child.returncode) == (None, code)
    return code


def test_ends_by_signals(tmp_path: Path) -> None:
    assert asyncio.run(_ended_by(tmp_path / "log", "sleep", lambda child: child.terminate())) == -signal.SIGTERM
    killed = asyncio.run(_ended_by(tmp_path / "log", "sleep", lambda child: os.kill(child.pid, signal.SIGKILL)))
    assert killed == -signal.SIGKILL


def test_its_standard_input_ends_with_who_started_it(tmp_path: Path) -> None:
    async def run_and_close() -> int:
        read_end, write_end = os.pipe()
        with (tmp_path / "log").open("ab") as output:
            number = output.fileno()
            child = await START(["read"], stdin=read_end, output=number, progress=number, environment={})
        os.close(read_end)
        os.close(write_end)
        return await asyncio.wait_for(child.wait(), 600)

    assert asyncio.run(run_and_close()) == 7


def test_a_child_that_ignores_sigterm_is_killed_when_cancelled(tmp_path: Path) -> None:
    groups: set[int] = set()

    async def cancelled() -> None:
        task = asyncio.create_task(
            run_process(
                ["ignore"],
                start=START,
                log=tmp_path / "log",
                on_line=lambda _: None,
                groups=groups,
                grace_seconds=0.2,
                environment={},
            )
        )
        while not (tmp_path / "log").exists() or b"ignoring" not in (tmp_path / "log").read_bytes():  # noqa: ASYNC110 - only the log tells
            await asyncio.sleep(0.01)
        (pid,) = groups
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ProcessLookupError):
            os.killpg(pid, 0)

    asyncio.run(cancelled())


def test_a_server_that_is_killed_is_started_again_and_its_child_counts_as_killed(tmp_path: Path) -> None:
    """As when the kernel runs out of memory: the caller may try again."""

    def kill_the_server(child: Child) -> None:
        server = psutil.Process(child.pid).parent()
        assert server is not None
        server.kill()

    assert asyncio.run(_ended_by(tmp_path / "log", "sleep", kill_the_server)) == -signal.SIGKILL
    assert run(tmp_path / "log", "exit", "0") == 0
    children = psutil.Process().children(recursive=True)
    next(child for child in children if "warm_server" in command_line(child)).kill()
    assert run(tmp_path / "log", "exit", "64") == 64


def _run_program(folder: Path, program: str) -> tuple[int, str, str]:
    """Return the exit code, the output and the errors of a program that starts warm children."""
    (folder / "program.py").write_text(
        "import asyncio, os, pathlib, sys\n"
        "from nashdex.local.processes import run_process\n"
        "from nashdex.local.warm_start import WarmStart\n"
        "start = WarmStart('support.warm_program:main', ['interrupting'])\n"
        "def run(*command):\n"
        "    return asyncio.run(run_process(command, start=start, log=pathlib.Path('log'), on_line=print, groups=set(),"
        " grace_seconds=1, environment={}))\n" + program
    )
    path = os.pathsep.join([str(folder), *sys.path])
    ended = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_a_forked_server_has_the_modules_of_its_program_and_is_replaced_when_it_is_killed(tmp_path: Path) -> None:
    program = (
        "import psutil\n"
        "sys.stdout.write('written once ')\n"
        "start.fork_server()\n"
        "server, = psutil.Process().children()\n"
        "print(run('exit', '64'), server.cmdline() == psutil.Process().cmdline())\n"
        "server.kill()\n"
        "print(run('exit', '65'), *('warm_server' in ' '.join(c.cmdline()) for c in psutil.Process().children()))\n"
        "start.close()\n"
        "print(run('say'), psutil.Process().children() == [])\n"
        "start.close()\n"
        "print(psutil.Process().children())\n"
    )
    lines = ["written once 64 True", "65 True", "b'to the runner\\n'", "0 False", "[]"]
    assert _run_program(tmp_path, program) == (0, "\n".join(lines) + "\n", "")


def test_a_process_with_threads_forks_no_server(tmp_path: Path) -> None:
    program = (
        "import psutil, threading\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "start.fork_server()\n"
        "print(psutil.Process().children(), run('exit', '64'))\n"
        "start.close()\n"
    )
    assert _run_program(tmp_path, program) == (0, "[] 64\n", "")


@pytest.mark.parametrize("begin", ["", "start.fork_server()\n"], ids=["new", "forked"])
@pytest.mark.parametrize("when", ["interrupt()", "os.register_at_fork(after_in_child=interrupt)"])
def test_an_interrupt_while_the_server_or_a_child_starts_ends_nothing(tmp_path: Path, when: str, begin: str) -> None:
    """Ctrl-C reaches both too; the runner is the one that ends its steps."""
    interrupt = "import os, signal\ndef interrupt():\n    os.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "interrupting.py").write_text(f"{interrupt}{when}\n")
    program = "code = run('exit', '64')\nstart.close()\nsys.exit(code)\n"
    assert _run_program(tmp_path, begin + program) == (64, "", "")


def test_a_full_disk_under_the_log_leaves_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/dev/full")
    assert run(tmp_path / "log", "nashdex", "config", "schema") == 75


IN_A_SERVER = """
import importlib, sys
from nashdex.local.warm_start import modules_of_steps
from nashdex.settings.run import RunSettings
settings = {"format": "kuhn_poker", "train": {"oracle": "exact"}, "population": {"initial": ["random"]}}
for module in modules_of_steps(RunSettings.model_validate(settings)):
    importlib.import_module(module)
from nashdex.core.manifest import Manifest
from nashdex_cli.built import unbuilt
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES
from nashdex.report.assembly.iterations import own_versions
assert Manifest.__pydantic_complete__ and IterationPlan.__pydantic_complete__
print(*(model.__name__ for model in unbuilt()))
print(own_versions.cache_info().currsize, "typer._adapters" in sys.modules)
print("_added" in vars(ORACLES), "nashdex.actor.step" in sys.modules, "torch" in sys.modules)
"""


def test_the_server_prepares_what_every_step_needs() -> None:
    """Each of these costs a step of a small game more than its work."""
    done = subprocess.run([sys.executable, "-c", IN_A_SERVER], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "1 True", "True False False"]


IN_A_NEW_PROCESS = """
import importlib, sys
from nashdex.local.warm_start import modules_of_steps
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from support.made_runs import ROCK_PAPER_SCISSORS, make_tabular_run
settings = {"format": "kuhn_poker", "train": {"oracle": "exact"}, "population": {"initial": ["random"]}}
for module in modules_of_steps(RunSettings.model_validate(settings)):
    importlib.import_module(module)
before = set(sys.modules)
make_tabular_run(open_store(sys.argv[1]), iterations=1, payoffs=ROCK_PAPER_SCISSORS)
print(*sorted({module.partition(".")[0] for module in set(sys.modules) - before} - {"nashdex"}))
"""


@pytest.mark.slow
def test_a_step_that_starts_warm_finds_every_library_imported(tmp_path: Path) -> None:
    """Importing scipy or jinja2 takes longer than most steps of a small game."""
    paths = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", IN_A_NEW_PROCESS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": paths})
    late = set(done.stdout.splitlines()[-1].split())
    assert not late & {"scipy", "jinja2", "prometheus_client", "pyspiel", "torch", "numpy", "boto3"}
