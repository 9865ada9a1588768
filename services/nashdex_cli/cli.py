"""The command line: the commands in their help groups, and how failures are reported.

A failure is one line on standard error and an exit code (``core.errors``); ``--debug`` adds the traceback.
"""

import errno
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.main import get_command

import nashdex
from nashdex.core.errors import ConfigurationError, ExitCode, NashdexError, StoppedError
from nashdex.core.redaction import clean, redacted
from nashdex_cli.commands import (
    analyse,
    config,
    decide,
    formats,
    play,
    policy,
    report,
    run,
    serve,
    solve,
    tabular,
    verify,
)
from nashdex_cli.commands.added import add_commands
from nashdex_cli.commands.cluster import begin, check_store, logs, status, submit
from nashdex_cli.commands.groups import CommandGroup
from nashdex_cli.commands.measure import battle, bench, calibrate, cost, experiment, exploit, panel, rate
from nashdex_cli.commands.output import drop_output, open_missing_streams, print_any_character
from nashdex_cli.commands.pods import check_device, exporter, step, verdict

DEBUG_VARIABLE = "NASHDEX_DEBUG"
TERMINATION_LOG_VARIABLE = "NASHDEX_TERMINATION_LOG"
"""Names the file that receives a failure's message: a pod's termination log, which Argo shows as the node's message."""
_TERMINATION_LOG_CHARACTERS = 1000
"""Limit of a message. The Workflow object holds one for each failed shard, and its size is limited."""
_MESSAGE_CHARACTERS = 2000
_BROKEN_PIPE_EXIT = 1
"""The reader of standard output has closed it. Typer uses the same code."""

RUN_AND_LOOK = "Run and look"
MEASURE = "Measure"
PLAY = "Play elsewhere"
DATA = "Data and foreign policies"
SOLVE = "Solve"
CLUSTER = "Cluster"
PODS = "What pods call"

app = typer.Typer(
    name="nashdex",
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Population-based self-play for Pokémon Showdown, with error bars.",
)
app.command(rich_help_panel=RUN_AND_LOOK)(run.run)
app.command(rich_help_panel=RUN_AND_LOOK)(report.report)
app.command(rich_help_panel=RUN_AND_LOOK)(play.play)
app.command(rich_help_panel=RUN_AND_LOOK)(analyse.analyse)
app.command(rich_help_panel=RUN_AND_LOOK)(verify.verify)
app.add_typer(config.app, name="config", rich_help_panel=RUN_AND_LOOK)
app.command(rich_help_panel=RUN_AND_LOOK)(formats.formats)
app.command(rich_help_panel=PLAY)(serve.serve)
app.command(rich_help_panel=PLAY)(serve.showdown)
app.command(rich_help_panel=PLAY)(decide.decide)
app.command(rich_help_panel=MEASURE)(battle.battle)
app.command(rich_help_panel=MEASURE)(panel.panel)
app.command(rich_help_panel=MEASURE)(exploit.exploit)
app.command(rich_help_panel=MEASURE)(rate.rate)
app.command(rich_help_panel=MEASURE)(cost.cost)
app.command(rich_help_panel=MEASURE)(calibrate.calibrate)
app.add_typer(experiment.app, name="experiment", rich_help_panel=MEASURE)
app.add_typer(bench.app, name="bench", rich_help_panel=MEASURE)
app.add_typer(policy.app, name="policy", rich_help_panel=DATA)
_broken: ConfigurationError | None = None
"""Problems of installed packages: every command prints them and ends."""
try:
    add_commands(app, {"bench": bench.app, "config": config.app, "policy": policy.app, "tabular": tabular.app})
except ConfigurationError as error:
    _broken = error
app.command(cls=solve.SolveCommand, rich_help_panel=SOLVE)(solve.solve)
app.add_typer(tabular.app, name="tabular", rich_help_panel=SOLVE)
app.command(rich_help_panel=CLUSTER)(submit.submit)
app.command(rich_help_panel=CLUSTER)(status.status)
app.command(rich_help_panel=CLUSTER)(logs.logs)
app.command(rich_help_panel=CLUSTER)(submit.stop)
app.command(rich_help_panel=CLUSTER)(submit.resume)
app.command(rich_help_panel=CLUSTER)(begin.begin)
app.command(rich_help_panel=CLUSTER)(check_store.check_store)
app.command(rich_help_panel=PODS)(step.step)
app.command(rich_help_panel=PODS)(check_device.check_device)
app.command(rich_help_panel=PODS)(verdict.verdict)
app.command(rich_help_panel=PODS)(exporter.exporter)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer's signature
    if asked:
        typer.echo(f"nashdex {nashdex.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help=f"Show tracebacks, like {DEBUG_VARIABLE}=1.")] = False,
) -> None:
    """Population-based self-play for Pokémon Showdown, with error bars."""
    del version
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


command = get_command(app)
"""Read from the signatures once: steps of a local run are forked from a process that has it."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    open_missing_streams()
    _use_one_thread_in_linear_algebra()
    sys.exit(run_command_line(sys.argv[1:] if arguments is None else arguments))


def _use_one_thread_in_linear_algebra() -> None:
    """Let numpy's OpenBLAS, which is not imported yet, compute in one thread, unless the user chose a number.

    It would start one for each core of the machine, not of the pod, and they wait actively: on busy cores the fit of
    300 ratings took 40 times the CPU time. On x86, torch has threads of its own; elsewhere it may share these.
    """
    if platform.machine().lower() in {"x86_64", "amd64"}:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. No exception leaves this function."""
    print_any_character()
    try:
        _require_whole_packages()
        result = command(args=arguments, prog_name="nashdex", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output(sys.stdout)
        return _BROKEN_PIPE_EXIT
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the process's edge
        return _report(error)
    except SystemExit as end:
        if end.code != ExitCode.STOPPED:
            raise
        return _report(StoppedError("stopped by a signal"))
    if result == ExitCode.INTERRUPTED:  # typer returns it for a KeyboardInterrupt
        return _report(KeyboardInterrupt())
    return result if isinstance(result, int) else ExitCode.OK


def _require_whole_packages() -> None:
    if _broken is not None:
        raise _broken


def _report(error: BaseException) -> int:
    """Print one line about ``error``; return the exit code, also where nothing can be printed: on a full disk."""
    message, code = _explain(error)
    try:
        if os.environ.get(DEBUG_VARIABLE):
            sys.stderr.write(_traceback(error))
        elif code == ExitCode.INTERNAL and not isinstance(error, NashdexError):
            message += f"; its traceback is in {_save_traceback(error)}"
        line = _line(message)
        sys.stderr.write(f"error: {line}\n")
        sys.stderr.flush()
        sys.stdout.flush()
    except OSError:
        line = _line(message)
        drop_output(sys.stderr)
        drop_output(sys.stdout)
    _write_termination_log(line)
    return code


def _line(message: str) -> str:
    """Return ``message`` as one line without secrets and control characters; without its middle if it is too long."""
    line = clean(" ".join(message.split()))
    if len(line) <= _MESSAGE_CHARACTERS:
        return line
    half = _MESSAGE_CHARACTERS // 2
    return f"{line[:half]} … {line[-half:]}"


def _explain(error: BaseException) -> tuple[str, int]:  # noqa: PLR0911 - one return per kind of error
    """Return the message for ``error`` and the exit code."""
    match error:
        case NashdexError():
            return str(error), error.exit_code
        case typer.TyperException():  # the parser refused the arguments
            return _of_arguments(error), ExitCode.CONFIGURATION
        case KeyboardInterrupt() | typer.Abort():
            return "interrupted", ExitCode.INTERRUPTED
        case RecursionError():
            return "a value or document is nested too deeply; expected a few levels", ExitCode.DATA
        case MemoryError() | OSError(errno=errno.ENOMEM):
            return "out of memory; end other programs, or use fewer --processes", ExitCode.TRY_AGAIN
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG):
            where = error.filename or "standard output or a file"
            return (
                f"{where}: the disk or quota is full; make room and run again",
                ExitCode.TRY_AGAIN,
            )
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return "too many files are open; raise the limit (`ulimit -n`) and run again", ExitCode.TRY_AGAIN
        case ModuleNotFoundError() if error.name and not error.name.startswith("nashdex"):
            name = error.name.partition(".")[0]
            missing = f"this command needs the Python package {name}; install it with: pip install 'nashdex[local]'"
            return missing, ExitCode.CONFIGURATION
    return f"{type(error).__name__}: {error}: unexpected error; please report this bug", ExitCode.INTERNAL


def _of_arguments(error: typer.TyperException) -> str:
    """Return the fault of the command line, and its remedy."""
    from nashdex.settings.run import RunSettings

    message = error.format_message().replace("Value error, ", "")
    name = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
    if name in RunSettings.model_fields and name in message.replace("-", "_"):
        return f"{message} (settings are given with --set, such as --set {name}=VALUE)"
    return f"{message} (try --help)"


def _write_termination_log(line: str) -> None:
    """Write the message to the pod's termination log, if there is one. Errors are ignored: the exit code remains."""
    if path := os.environ.get(TERMINATION_LOG_VARIABLE):
        with suppress(OSError):
            Path(path).write_text(line[:_TERMINATION_LOG_CHARACTERS], encoding="utf-8", errors="backslashreplace")


def _save_traceback(error: BaseException) -> Path:
    with tempfile.NamedTemporaryFile(
        "w", prefix="nashdex-", suffix=".traceback", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(_traceback(error))
    return Path(file.name)


def _traceback(error: BaseException) -> str:
    """Return the traceback of ``error`` without secrets."""
    return redacted("".join(traceback.format_exception(error)))
