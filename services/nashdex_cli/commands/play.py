"""``nashdex play``: a page on which a person plays against policies."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_json, print_note, print_text
from nashdex_cli.commands.run_options import CalibrationOption

PageFolderOption = Annotated[
    Path | None,
    typer.Option("--output", metavar="DIR", help="Write the page there, for any web host, and open no browser."),
]
OpensOption = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")]


def play(
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY",
            help="zoo:NAME, RUN#newest, RUN#ID, RUN#nash, random, max-power or search:…. The page offers all.",
        ),
    ],
    *,
    format_id: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Showdown format. [default: the policies' format]"),
    ] = None,
    output: PageFolderOption = None,
    calibrations: CalibrationOption = None,
    opens: OpensOption = True,
    as_json: JsonOption = False,
) -> None:
    """Play against policies in the browser, and see where a battle was lost.

    Writes one page with the simulator, the policies and an analysis board in it, and opens it. The page needs no
    server and no network. The first page of a format takes a minute to build; later ones are quick.
    """
    from nashdex.core.output_files import check_output_folder
    from nashdex.runs.played_format import format_to_play
    from nashdex_play.page.bundle import cache_directory
    from nashdex_play.page.writing import write_play_page

    if output is not None:
        check_output_folder(output, "--output")
    chosen = format_to_play(format_id, {text: text for text in policies})
    folder = output or cache_directory() / "pages" / chosen
    page = write_play_page(chosen, policies, folder, None, calibrations or (), print_note)
    show_page(page, opens=opens and output is None, as_json=as_json)


def show_page(page: Path, *, opens: bool, as_json: bool) -> None:
    """Print where a page is. Open it in the browser if ``opens``, but not beside JSON."""
    if as_json:
        print_json({"page": str(page), "bytes": page.stat().st_size})
        return
    import webbrowser

    print_text(page.resolve().as_uri())
    if opens:
        webbrowser.open(page.resolve().as_uri())
