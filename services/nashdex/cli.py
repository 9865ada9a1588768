"""The command line: which commands there are, and what a failure looks like to whoever typed one.

A failure is one line on standard error and an exit code (``core.errors``); a traceback is shown only on request.
"""

import errno
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

import nashdex
from nashdex.commands import (
    battle,
    begin,
    bench,
    check_store,
    config,
    exporter,
    logs,
    rate,
    report,
    resume,
    run,
    solve,
    status,
    step,
    stop,
    submit,
    tabular,
    verdict,
)
from nashdex.core.errors import ExitCode, NashdexError

DEBUG_VARIABLE = "NASHDEX_DEBUG"
TERMINATION_LOG_VARIABLE = "NASHDEX_TERMINATION_LOG"
"""Names a file that takes a failure's message: a pod's termination log, from which a workflow's status has it."""
_TERMINATION_LOG_CHARACTERS = 1000
"""Every failed shard's is in the Workflow object, which has to stay small."""
_BROKEN_PIPE_EXIT = 1
"""Whoever read standard output has seen enough; typer's own code for it."""
_FIRST_PROCESS = 1
"""Of a container. The kernel lets no signal end it that it has no handler for, SIGTERM included."""

app = typer.Typer(
    name="nashdex",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Population-based self-play for Pokémon Showdown that does not collapse, with error bars.",
)
app.command()(run.run)
app.command()(begin.begin)
app.command()(submit.submit)
app.command()(status.status)
app.command()(logs.logs)
app.command()(stop.stop)
app.command()(resume.resume)
app.command()(check_store.check_store)
app.command()(step.step)
app.command()(verdict.verdict)
app.command()(exporter.exporter)
app.command(cls=solve.SolveCommand)(solve.solve)
app.command()(rate.rate)
app.command()(battle.battle)
app.add_typer(tabular.app, name="tabular")
app.add_typer(bench.app, name="bench")
app.command()(report.report)
app.add_typer(config.app, name="config")


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer's signature
    if asked:
        typer.echo(f"nashdex {nashdex.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help=f"Show tracebacks, as {DEBUG_VARIABLE}=1 does.")] = False,
) -> None:
    """Population-based self-play for Pokémon Showdown that does not collapse, with error bars."""
    del version
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    if os.getpid() == _FIRST_PROCESS:
        signal.signal(signal.SIGTERM, _stop)
    sys.exit(run_command_line(sys.argv[1:] if arguments is None else arguments))


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    sys.exit(ExitCode.STOPPED)


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code. Nothing that it raises gets past here."""
    try:
        result = app(args=arguments, prog_name="nashdex", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes standard output once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE_EXIT
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the process's edge
        message, code = _explain(error)
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exception(error)
        elif code == ExitCode.INTERNAL and not isinstance(error, NashdexError):
            message += f"; its traceback is in {_save_traceback(error)}"
        line = " ".join(message.split())
        sys.stderr.write(f"error: {line}\n")
        _tell_pod(line)
        return code
    return result if isinstance(result, int) else ExitCode.OK


def _explain(error: BaseException) -> tuple[str, int]:  # noqa: PLR0911 - one for each kind of error
    """Return what to say of ``error`` and the exit code."""
    match error:
        case NashdexError():
            return str(error), error.exit_code
        case typer.TyperException():  # what the parser found wrong
            return f"{error.format_message() or 'no command was given'} (try --help)", ExitCode.CONFIGURATION
        case KeyboardInterrupt() | typer.Abort():
            return "interrupted", ExitCode.INTERRUPTED
        case MemoryError():
            return "out of memory; end other programs, or use fewer --processes", ExitCode.TRY_AGAIN
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            where = error.filename or "standard output or a file"
            return f"{where}: the disk or quota is full; make room and run again", ExitCode.TRY_AGAIN
        case ModuleNotFoundError() if error.name and not error.name.startswith("nashdex"):
            name = error.name.partition(".")[0]
            missing = f"this needs the Python package {name}, which is not installed: pip install 'nashdex[local]'"
            return missing, ExitCode.CONFIGURATION
    return f"{type(error).__name__}: {error}; nobody planned for this, so it is a defect of nashdex", ExitCode.INTERNAL


def _tell_pod(line: str) -> None:
    """Leave the message where a pod's status shows it; best effort, since the exit code says what matters."""
    if path := os.environ.get(TERMINATION_LOG_VARIABLE):
        with suppress(OSError):
            Path(path).write_text(line[:_TERMINATION_LOG_CHARACTERS], encoding="utf-8")


def _save_traceback(error: BaseException) -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="nashdex-", suffix=".traceback", delete=False) as file:
        traceback.print_exception(error, file=file)
    return Path(file.name)
