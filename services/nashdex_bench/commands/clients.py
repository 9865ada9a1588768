"""``nashdex bench acting``, ``decide``, ``envs``, ``external`` and ``serve``: policies and arenas as users see them."""

from typing import Annotated

import typer

from nashdex.core.stopping import install_stop_handlers
from nashdex_bench.commands.results import print_measured
from nashdex_cli.commands.output import JsonOption, print_note
from nashdex_cli.commands.run_options import SeedOption


def acting(
    policies: Annotated[
        list[str],
        typer.Argument(metavar="POLICY...", help="Networks and ensembles of one format, such as RUN_URI#newest."),
    ],
    *,
    batch: Annotated[int, typer.Option(min=1, max=4096, help="Decisions at once.")] = 64,
    repetitions: Annotated[int, typer.Option(min=1, max=100_000, help="Repetitions, in turn.")] = 100,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure the CPU time that policies take to act, on the same decisions and in turn.

    The decisions are of battles between random players, 12 decisions after their start.
    """
    install_stop_handlers()
    from nashdex_bench.acting import bench_acting, lines

    print_measured(bench_acting(policies, batch=batch, repetitions=repetitions, seed=seed), lines, as_json=as_json)


def decide(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="As `nashdex decide` takes it, such as RUN_URI#newest@greedy.")
    ],
    *,
    format_id: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="Showdown format. [default: the format of the policy or its run]"
        ),
    ] = None,
    questions: Annotated[int, typer.Option(min=10, max=1_000_000, help="Decisions to ask for.")] = 640,
    batch: Annotated[int, typer.Option(min=1, max=4096, help="Questions of a batch.")] = 64,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure `nashdex decide` without HTTP: questions one after another, then in batches.

    The questions come from battles between random players; each holds its battle's whole log.
    """
    from nashdex_bench.decide import bench_decide, lines

    result = bench_decide(policy, format_id, questions=questions, batch=batch, seed=seed)
    print_measured(result, lines, as_json=as_json)


def envs(
    format_id: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Showdown singles format.")
    ] = "gen1randombattle",
    num_envs: Annotated[int, typer.Option(min=1, max=1024, help="Battles at once of the vector environment.")] = 64,
    gateways: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Simulator processes of the vector environment. [default: one a core]"),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Duration of each measurement.")] = 20.0,
    repetitions: Annotated[int, typer.Option(min=1, max=100, help="Repetitions of all measurements, in turn.")] = 3,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure the single and the vector environment, and poke-env's SinglesEnv on the stock server, in turn.

    One agent plays random legal actions against a random player. A step is one action of the agent. poke-env's
    environment computes no observation. Steps a CPU second count all processes.
    """
    from nashdex_bench.envs import bench_envs, lines

    result = bench_envs(
        format_id,
        num_envs=num_envs,
        num_gateways=gateways,
        seconds=seconds,
        repetitions=repetitions,
        seed=seed,
        on_side=lambda side: print_note(f"measuring {side}"),
    )
    print_measured(result, lines, as_json=as_json)


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
    from nashdex.telemetry.logging import configure_logging
    from nashdex_bench.external import bench_external, lines

    configure_logging()
    result = bench_external(
        format_id,
        opponent=opponent,
        battles=battles,
        at_once=at_once,
        seed=seed,
        on_part=lambda part: print_note(f"playing {part}"),
    )
    print_measured(result, lines, as_json=as_json)


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
    from nashdex_bench.serve import bench_serve, lines

    result = bench_serve(
        format_id,
        battles=battles,
        restart_battles=restart_battles,
        kills=kills,
        minutes=minutes,
        at_once=at_once,
        on_part=lambda part: print_note(f"playing {part}"),
    )
    print_measured(result, lines, as_json=as_json)
