"""``nashdex report``: the report of a run as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import RunUriArgument


def report(
    run: RunUriArgument,
    output: Annotated[Path, typer.Option(metavar="FILE.html", help="File to write.")],
    as_json: JsonOption = False,
) -> None:
    """Write the report of a run's newest iteration as one HTML file that needs no network."""
    from nashdex.report.step import write_page
    from nashdex.runs.creation import open_run

    write_page(open_run(run).store, output)
    if as_json:
        print_json({"output": str(output)})
    else:
        print_text(str(output))
