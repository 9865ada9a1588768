"""``nashdex bench envs``: steps a second of the environments, beside poke-env's."""

import sys
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import SeedOption


def envs(
    format_id: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Showdown singles format.")
    ] = "gen1randombattle",
    num_envs: Annotated[int, typer.Option(min=1, max=1024, help="Battles at once of the vector environment.")] = 64,
    gateways: Annotated[int, typer.Option(min=1, max=64, help="Simulator processes of the vector environment.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Duration of each measurement.")] = 20.0,
    repetitions: Annotated[int, typer.Option(min=1, max=100, help="Repetitions of all measurements, in turn.")] = 3,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure the single and the vector environment, and poke-env's SinglesEnv on the stock server, in turn.

    One agent plays random legal actions against a random player. A step is one action of the agent. poke-env's
    environment computes no observation. Steps a CPU second count all processes.
    """
    from nashdex.bench.envs import bench_envs, lines

    result = bench_envs(
        format_id,
        num_envs=num_envs,
        num_gateways=gateways,
        seconds=seconds,
        repetitions=repetitions,
        seed=seed,
        on_side=_show,
    )
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    for line in lines(result):
        print_text(line)


def _show(side: str) -> None:
    sys.stderr.write(f"measuring {side}\n")
