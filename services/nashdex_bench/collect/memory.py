"""Memory growth of a long collection: ``python -m nashdex_bench.collect.memory --battles 5000``."""

import json
import sys
from itertools import takewhile
from typing import Annotated

import typer

from nashdex.games.registry import showdown_game
from nashdex_bench.collect.self_play import Load, self_play


def main(
    format_id: Annotated[str, typer.Option("--format", help="Showdown format.")] = "gen1randombattle",
    battles: Annotated[int, typer.Option(help="Battles to play.", min=1000)] = 5000,
    settle: Annotated[int, typer.Option(help="Battles before the first reading that counts.", min=100)] = 500,
) -> None:
    """Play, and print resident sizes after ``settle`` battles, every ``settle`` more, and their growth."""
    readings = []
    with self_play(Load(showdown_game(format_id))) as collecting:
        for number in takewhile(lambda number: number <= battles, collecting.battles()):
            if number % settle == 0:
                readings.append(collecting.read())
                reading = readings[-1]
                sizes = f"collector {reading.collector_bytes >> 20} MiB, gateway {reading.gateway_bytes >> 20} MiB"
                sys.stderr.write(f"{reading.battles} battles: {sizes}\n")
    first, rest = readings[0], readings[1:]
    result = {
        "format": format_id,
        "battles": readings[-1].battles,
        "rejected_choices": readings[-1].rejected_choices,
        "failed_battles": readings[-1].failed_battles,
        "collector_bytes": [reading.collector_bytes for reading in readings],
        "gateway_bytes": [reading.gateway_bytes for reading in readings],
        "collector_growth": max(reading.collector_bytes for reading in rest) / first.collector_bytes - 1,
        "gateway_growth": max(reading.gateway_bytes for reading in rest) / first.gateway_bytes - 1,
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    typer.run(main)
