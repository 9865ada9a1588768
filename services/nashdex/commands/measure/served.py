"""``nashdex bench serve``: two served policies that play each other on the stock server."""

import sys
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text


def serve(
    format_id: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Showdown format without teams of one's own.")
    ] = "gen1randombattle",
    battles: Annotated[int, typer.Option(min=1, max=100_000, help="Battles by search.")] = 100,
    restart_battles: Annotated[
        int, typer.Option(min=1, max=100_000, help="Battles while a client is killed and started again.")
    ] = 20,
    kills: Annotated[int, typer.Option(min=0, max=1000, help="Times that it is killed and started again.")] = 3,
    minutes: Annotated[float, typer.Option(min=0.1, max=10_000, help="Minutes of battles without an end.")] = 15.0,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Battles at once.")] = 4,
    as_json: JsonOption = False,
) -> None:
    """Play two clients of `nashdex serve` against each other on the stock server, and compare their records.

    Three parts: battles by search; battles while one client is killed and started again; and battles for a time, with
    a client's memory. A battle agrees if both records have the server's result.
    """
    from nashdex.bench.serve import bench_serve, lines

    result = bench_serve(
        format_id,
        battles=battles,
        restart_battles=restart_battles,
        kills=kills,
        minutes=minutes,
        at_once=at_once,
        on_part=_show,
    )
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    for line in lines(result):
        print_text(line)


def _show(part: str) -> None:
    sys.stderr.write(f"playing {part}\n")
