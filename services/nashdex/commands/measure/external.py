"""``nashdex bench external``: a poke-env player by websocket and in process."""

import sys
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import SeedOption


def external(
    format_id: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Showdown format without teams of one's own.")
    ] = "gen1randombattle",
    opponent: Annotated[
        str, typer.Option(metavar="POLICY", help="Opponent of both, as `nashdex battle --p2` takes it.")
    ] = "max-power",
    battles: Annotated[int, typer.Option(min=2, max=1_000_000, help="Battles of each.")] = 400,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Battles at once by websocket.")] = 4,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Play poke-env's SimpleHeuristicsPlayer by websocket and in process, and compare its scores.

    By websocket it is a program of its own on the stock server. The difference has a 95 % interval.
    """
    from nashdex.bench.external import bench_external, lines
    from nashdex.settings.process import load_telemetry_settings
    from nashdex.telemetry.logging import configure_logging

    configure_logging(load_telemetry_settings())
    result = bench_external(format_id, opponent=opponent, battles=battles, at_once=at_once, seed=seed, on_part=_show)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    for line in lines(result):
        print_text(line)


def _show(part: str) -> None:
    sys.stderr.write(f"playing {part}\n")
