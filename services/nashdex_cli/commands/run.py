"""``nashdex run``: every iteration of a run, on this machine."""

import json
import sys
from typing import TYPE_CHECKING, TextIO

from nashdex.core.machine import usable_cores
from nashdex_cli.commands.output import JsonOption, print_json
from nashdex_cli.commands.run_options import ConfigArgument, OverridesOption, ProcessesOption, RunIdOption, StoreOption

if TYPE_CHECKING:
    from nashdex.runs.creation import PreparedRun, Run


def run(
    config: ConfigArgument,
    store: StoreOption = "runs",
    run: RunIdOption = None,
    overrides: OverridesOption = None,
    processes: ProcessesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run every iteration on this machine, or continue a run that was stopped.

    The same settings and store are the same run: repeat the command to continue. Ctrl-C saves, stops all processes and
    exits with 130.
    """
    from nashdex.core import keys
    from nashdex.runs.creation import prepare_run

    begun = begin_here(store, prepare_run(config, name=run, overrides=overrides))
    uri = begun.store.uri
    last = run_here(begun, processes=processes, stream=sys.stderr if as_json else sys.stdout)
    if as_json:
        final = json.loads(begun.store.get(keys.published(last, keys.REPORT)))
        print_json(
            {
                "run": begun.id,
                "uri": uri,
                "store": uri.removesuffix(f"/{begun.id}"),
                "iterations": begun.settings.iterations,
                "final": final,
            }
        )


def begin_here(store: str, prepared: "PreparedRun") -> "Run":
    """Create a run, or return it if it exists, that is to work on this machine.

    Raises:
        ConfigurationError: this machine lacks what the settings name, or the run exists under other settings.
    """
    from nashdex.runs.creation import check_here, create_run

    check_here(prepared.settings)
    return create_run(store, prepared)


def run_here(begun: "Run", *, processes: int | None, stream: TextIO) -> int:
    """Run every iteration of ``begun`` that is not done, with a display on ``stream``; return the last one's number.

    Raises:
        NashdexError: a step failed.
        StoppedError: the process was asked to stop.
    """
    from nashdex.local import warm_start
    from nashdex.local.display import open_display
    from nashdex.local.processes import start_command
    from nashdex.local.runner import RunnerOptions, logs_folder, report_address, run_plan, step_command
    from nashdex.local.summary import summarise

    last = begun.settings.iterations - 1
    uri = begun.store.uri
    warm = None
    if warm_start.is_available():
        modules = ["nashdex_cli.steps", *warm_start.modules_of_steps(begun.settings), "nashdex_cli.built"]
        warm = warm_start.WarmStart("nashdex_cli.cli:run_command_line", modules)
        warm.fork_server()
    options = RunnerOptions(num_processes=processes or usable_cores(), logs=logs_folder(begun))
    with open_display(stream) as display:
        display.say(f"run {begun.id}: {begun.settings.format}, iterations 0 to {last}")
        display.say(f"in  {uri}")
        try:
            run_plan(
                begun,
                options=options,
                display=display,
                command=step_command(uri, () if warm else (sys.executable, "-m", "nashdex_cli")),
                start=warm or start_command,
                on_iteration=lambda iteration: display.say(summarise(begun.store, iteration)),
            )
        finally:
            if warm:
                warm.close()
        display.say(f"report: {report_address(begun, last)}")
    return last
