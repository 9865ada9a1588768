"""``nashdex analyse``: the analysis board on a battle of another place."""

from typing import Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_note
from nashdex_cli.commands.play import OpensOption, PageFolderOption, show_page
from nashdex_cli.commands.run_options import CalibrationOption


def analyse(
    battle: Annotated[
        str,
        typer.Argument(
            metavar="BATTLE",
            help="Showdown log, replay, its JSON or a saved battle: a file or a web address, such as "
            "https://replay.pokemonshowdown.com/ID. RUN#NAME or REPORT.html#NAME for a battle of a run or of a report.",
        ),
    ],
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY",
            help="Policies whose critics judge: RUN#newest, RUN#ID, … of the battle's format. Without any there "
            "is no win probability.",
            show_default=False,
        ),
    ] = None,
    *,
    output: PageFolderOption = None,
    calibrations: CalibrationOption = None,
    opens: OpensOption = True,
    as_json: JsonOption = False,
) -> None:
    """Open the analysis board on a battle.

    Writes the page of `nashdex play` with the battle in it, and opens it. A log does not show the dice, so its choices
    have a probability but no value.
    """
    from nashdex.core.output_files import check_output_folder
    from nashdex.runs.played_format import format_to_play
    from nashdex_play.page.battles import read_battle
    from nashdex_play.page.bundle import cache_directory
    from nashdex_play.page.writing import write_play_page

    if output is not None:
        check_output_folder(output, "--output")
    read = read_battle(battle)
    judges = policies or ["random"]
    chosen = format_to_play(read.format, {text: text for text in judges})
    folder = output or cache_directory() / "pages" / f"{chosen}-analysis"
    page = write_play_page(chosen, judges, folder, read.text, calibrations or (), print_note)
    show_page(page, opens=opens and output is None, as_json=as_json)
