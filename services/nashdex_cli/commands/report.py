"""``nashdex report``: the report of a run as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_answer, print_note
from nashdex_cli.commands.run_options import CalibrationOption, RunUriArgument


def report(
    run: RunUriArgument,
    output: Annotated[Path, typer.Option(metavar="FILE.html", help="File to write.")],
    *,
    board: Annotated[
        bool,
        typer.Option("--board", help="Put the analysis board into the file: battles open there, without a network."),
    ] = False,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="POLICY",
            help="Policy that judges on the board. Repeatable. [default: RUN_URI#newest]",
            show_default=False,
        ),
    ] = None,
    calibrations: CalibrationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report of a run's newest iteration as one HTML file that needs no network.

    With --board the file also holds the simulator and a policy, some megabytes; building it needs Node.
    """
    from nashdex.core.errors import ConfigurationError
    from nashdex.core.output_files import check_output
    from nashdex.report.step import write_page
    from nashdex.runs.creation import open_run
    from nashdex_play.page.writing import report_board

    if (judges or calibrations) and not board:
        raise ConfigurationError("--judge and --calibration are for the analysis board: add --board, or leave them out")
    check_output(output, "--output")
    opened = open_run(run)
    found = None
    if board:
        found = report_board(opened.settings.format, judges or [f"{run}#newest"], calibrations or (), print_note)
    write_page(opened.store, output, found)
    size_bytes = output.stat().st_size
    print_answer({"output": str(output), "bytes": size_bytes}, [str(output)], as_json=as_json)
