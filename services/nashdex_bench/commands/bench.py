"""``nashdex bench``: how fast this machine is."""

import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from nashdex_bench.commands.clients import acting, decide, envs, external, serve
from nashdex_bench.commands.networks import calibration, cloning
from nashdex_bench.commands.results import print_measured, print_measured_json
from nashdex_cli.commands.added import Command
from nashdex_cli.commands.cluster.cluster_options import ContextOption, ServerOption
from nashdex_cli.commands.output import JsonOption, print_json, print_note, print_text
from nashdex_cli.commands.run_options import SeedOption

FormatOption = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="Showdown format, such as gen1randombattle.")
]

NetworkOption = Annotated[str, typer.Option(metavar="KIND", help="Kind of network, such as slots or pointer.")]
EpochsOption = Annotated[int, typer.Option(min=1, max=100, help="Passes over a round.")]
MinibatchOption = Annotated[int, typer.Option(min=1, max=1_000_000, help="Decisions per optimiser step.")]

_FEWEST_FIRST_POLICIES = 5
"""Fewest in iteration 0 of the scaling benchmark: three scripted ones and networks."""

app = typer.Typer()


@app.command()
def collect(
    format_id: FormatOption,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Duration of each measurement.")] = 20.0,
    repetitions: Annotated[int, typer.Option(min=1, max=100, help="Repetitions of all measurements, in turn.")] = 3,
    peer: Annotated[
        str | None, typer.Option(metavar="poke-env", help="Also measure poke-env's websocket players.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Kind of network on both seats. [default: slots; pairs in doubles]"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure collecting and the bare simulator with random choices in turn; `efficiency` is their ratio."""
    from nashdex.core.errors import ConfigurationError

    if peer not in {None, "poke-env"}:
        raise ConfigurationError(f"--peer {peer!r}: expected poke-env")
    from nashdex_bench.collect.measure import lines, run_bench
    from nashdex_bench.networks import network_settings

    result = run_bench(
        format_id,
        seconds=seconds,
        repetitions=repetitions,
        peer="poke-env" if peer is not None else None,
        network=None if network is None else network_settings(network),
    )
    print_measured(result, lines, as_json=as_json)


@app.command()
def train(
    *,
    format_id: FormatOption,
    network: NetworkOption = "slots",
    battles: Annotated[int, typer.Option(min=2, max=100_000, help="Battles of the round to learn from.")] = 200,
    epochs: EpochsOption = 2,
    minibatch: MinibatchOption = 1024,
    repetitions: Annotated[int, typer.Option(min=1, max=100, help="Repetitions of all measurements, in turn.")] = 3,
    device: Annotated[
        Literal["cpu", "cuda"], typer.Option(help="Where to learn: one CPU thread, or the first GPU.")
    ] = "cpu",
    compiles: Annotated[
        bool, typer.Option("--compile", help="Also measure the steps in bare torch with torch.compile; minutes.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a PPO round, and the same steps in bare torch, in turn; `efficiency` is their ratio.

    Seconds are CPU time, on a GPU wall time.
    """
    from nashdex.settings.ppo import PpoSettings
    from nashdex.telemetry.logging import configure_logging
    from nashdex_bench.networks import network_settings
    from nashdex_bench.train import lines, run_train_bench

    configure_logging()
    result = run_train_bench(
        format_id,
        network_settings(network),
        PpoSettings(num_epochs=epochs, minibatch_decisions=minibatch),
        battles=battles,
        repetitions=repetitions,
        device=device,
        compiles=compiles,
    )
    print_measured(result, lines, as_json=as_json)


@app.command()
def loop(
    format_id: FormatOption,
    network: NetworkOption = "slots",
    battles: Annotated[int, typer.Option(min=2, max=100_000, help="Battles per round.")] = 300,
    epochs: EpochsOption = 2,
    minibatch: MinibatchOption = 1024,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Rounds to measure, after one to warm up.")] = 3,
    as_json: JsonOption = False,
) -> None:
    """Measure rounds of playing and learning: decisions learned from per CPU-second of all processes.

    A network that can predict the opponent's choice does so.
    """
    from nashdex.settings.ppo import PpoSettings
    from nashdex.telemetry.logging import configure_logging
    from nashdex_bench.loop import lines, run_loop_bench
    from nashdex_bench.networks import network_settings

    configure_logging()
    settings = PpoSettings(num_epochs=epochs, minibatch_decisions=minibatch, round_battles=battles)
    result = run_loop_bench(format_id, network_settings(network), settings, rounds=rounds)
    print_measured(result, lines, as_json=as_json)


@app.command()
def actors(
    *,
    format_id: FormatOption,
    network: NetworkOption = "slots",
    num_actors: Annotated[int, typer.Option("--actors", min=1, max=1000, help="Simulated actors.")] = 200,
    rate: Annotated[
        float, typer.Option(min=1, max=1e6, help="Decisions per second of one actor, by both seats.")
    ] = 1000,
    chunk_battles: Annotated[int, typer.Option(min=2, max=10_000, help="Battles of a chunk.")] = 20,
    battles: Annotated[int, typer.Option(min=2, max=1_000_000, help="Battles per round.")] = 4000,
    rounds: Annotated[int, typer.Option(min=1, max=10_000, help="Rounds to measure, after one to warm up.")] = 5,
    epochs: EpochsOption = 1,
    minibatch: MinibatchOption = 1024,
    overlap: Annotated[int, typer.Option(min=0, max=1, help="Rounds that are played ahead.")] = 1,
    staleness: Annotated[
        int, typer.Option(min=0, max=1000, help="Stream chunks that are at most this many rounds old; 0: by --overlap.")
    ] = 0,
    small: Annotated[
        bool, typer.Option("--small", help="Train a tiny network, so that many chunks are read in little time.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a learner on this machine with many simulated actors, which store recorded chunks.

    Prints how long learner and actors wait, how old the weights are, the requests to the store, and memory.
    """
    from nashdex.settings.ppo import PpoSettings
    from nashdex.telemetry.logging import configure_logging
    from nashdex_bench.actors import lines, run_actors_bench
    from nashdex_bench.networks import network_settings, smallest_network

    configure_logging()
    settings = PpoSettings.model_validate(
        {
            "num_epochs": epochs,
            "minibatch_decisions": minibatch,
            "round_battles": battles,
            "overlap_rounds": 0 if staleness else overlap,
            "max_staleness_versions": staleness,
            "advantages": {"kind": "v-trace"},
        }
    )
    result = run_actors_bench(
        format_id,
        smallest_network() if small else network_settings(network),
        settings,
        num_actors=num_actors,
        actor_decisions_per_second=rate,
        chunk_battles=chunk_battles,
        rounds=rounds,
    )
    print_measured(result, lines, as_json=as_json)


@app.command()
def scale(
    format_id: FormatOption,
    seconds: Annotated[
        float | None, typer.Option(min=1, max=3600, help="Duration of each measurement on this machine. [default: 20]")
    ] = None,
    battles: Annotated[
        int | None, typer.Option(min=2, max=1_000_000, help="Battles per shard on a cluster. [default: 2000]")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Measure on a cluster, in this namespace.")
    ] = None,
    context: ContextOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure collecting with 1, 2 and 4 gateways, and with 1, 2 and 4 collectors of one gateway at once.

    With -n, --context or --server: 1, 2 and 4 shards of one gateway each, as pods of that cluster. The command needs
    access to the cluster's store (AWS_ENDPOINT_URL) and removes its runs from it.
    """
    if namespace is None and context is None and server is None:
        _scale_here(format_id, seconds, battles, as_json=as_json)
        return
    from nashdex.core.errors import ConfigurationError
    from nashdex_bench.scale import (
        DEFAULT_BATTLES,
        ClusterScaleResult,
        ClusterScaleRow,
        measure_shards,
    )
    from nashdex_cli.commands.cluster.follow import follow
    from nashdex_cluster.connection import connect

    if seconds is not None:
        raise ConfigurationError("--seconds has no effect on a cluster, whose shards end by battles: leave it out")
    cluster = connect(namespace=namespace, context=context, server=server)
    battles = battles or DEFAULT_BATTLES
    rows: list[ClusterScaleRow] = []
    for row in measure_shards(
        cluster, format_id, lambda run: follow(cluster, run, sys.stderr), battles_per_shard=battles
    ):
        if not as_json:
            if not rows:
                print_text("shards  decisions/s   total seconds  CPU, µs per decision")
            rates = f"{row.decisions_per_second:11,.0f}  {row.seconds:14,.0f}"
            print_text(f"{row.shards:6}  {rates}  {row.cpu_microseconds:20,.0f}")
        rows.append(row)
    if as_json:
        result = ClusterScaleResult(
            format=format_id, namespace=cluster.namespace, battles_per_shard=battles, rows=tuple(rows)
        )
        print_json(result.model_dump(mode="json"))


def _scale_here(format_id: str, seconds: float | None, battles: int | None, *, as_json: bool) -> None:
    from nashdex.core.errors import ConfigurationError
    from nashdex_bench.scale import lines, run_scale

    if battles is not None:
        raise ConfigurationError(
            "--battles has no effect on this machine, where --seconds ends a measurement: leave it out, or name a "
            "cluster's namespace with -n"
        )
    result = run_scale(format_id) if seconds is None else run_scale(format_id, seconds=seconds)
    print_measured(result, lines, as_json=as_json)


@app.command()
def conformance(
    formats: Annotated[
        str | None, typer.Option(metavar="FORMAT,…", help="Showdown formats. [default: 72 of all generations]")
    ] = None,
    battles: Annotated[int, typer.Option(min=1, max=10_000_000, help="Battles in total; formats take turns.")] = 300,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Play the same battles on the published and the accelerated simulator; exit 65 if they differ."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from nashdex.core.errors import DataError
    from nashdex_bench.conformance import lines, run_conformance

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task("comparing", total=battles)
        result = run_conformance(
            formats.split(",") if formats else None,
            battles=battles,
            seed=seed,
            on_battle=lambda format_id: progress.update(task, advance=1, description=format_id),
        )
    print_measured(result, lines, as_json=as_json)
    if first := result.first_difference:
        raise DataError(
            f"the accelerated simulator plays {result.differences} of {result.battles} battles differently; in battle "
            f"{first.battle} of {first.format} it outputs `{first.accelerated}`, the published one `{first.plain}`. "
            "Set NASHDEX_GATEWAY_ACCELERATION=false until this is fixed"
        )


@app.command()
def metagame(
    policies: Annotated[int, typer.Option(min=2, max=500, help="Policies of the single matrix.")] = 100,
    draws: Annotated[int, typer.Option(min=100, max=100_000, help="Draws from the posterior of 20 policies.")] = 500,
    as_json: JsonOption = False,
) -> None:
    """Measure every meta-solver: one matrix, then 20 policies with their posterior."""
    from nashdex_bench.metagame import MetagameBench, bench_metagame

    times = []
    for measured in bench_metagame(policies, draws):
        times.append(measured)
        if not as_json:
            print_text(
                f"{measured.meta_solver}: {policies} policies {measured.matrix_cpu_seconds:.2f} CPU-seconds, "
                f"20 policies with {draws} draws {measured.posterior_cpu_seconds:.2f}"
            )
    if as_json:
        bench_of_all = MetagameBench(num_policies=policies, num_draws=draws, solvers=tuple(times))
        print_measured_json(bench_of_all)


@app.command()
def tournament(
    games: Annotated[int, typer.Option(min=7, max=100_000, help="Synthetic games, equally many per family.")] = 210,
    seed: Annotated[int, typer.Option(min=0, help="Root of every seed.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare the adaptive schedule with the uniform one at equal battles, in synthetic games of seven families.

    `saved_share` is the share of the loss in the true game that the adaptive schedule saves, with its interval.
    """
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from nashdex_bench.tournament import bench_tournament, lines

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("games", total=games)
        result = bench_tournament(games, seed, on_game=lambda: progress.advance(task))
    print_measured(result, lines, as_json=as_json)


@app.command()
def scaling(  # noqa: PLR0917 - typer's options, never positional
    policies: Annotated[int, typer.Option(min=5, max=5000, help="Policies in the newest iteration.")] = 20,
    iterations: Annotated[int, typer.Option(min=2, max=1000, help="Iterations.")] = 3,
    seeds: Annotated[int, typer.Option(min=1, max=64, help="Policies that each iteration trains.")] = 1,
    shards: Annotated[int, typer.Option(min=1, max=200, help="Shards of evaluate.")] = 4,
    battles: Annotated[int, typer.Option(min=2, max=10_000, help="Battles of each pair of policies.")] = 20,
    draws: Annotated[int, typer.Option(min=100, max=100_000, help="Draws from the posterior.")] = 500,
    factor: Annotated[
        int, typer.Option(min=1, max=100, help="Also measure each of the four this many times as large; 1: not.")
    ] = 4,
    every: Annotated[
        int,
        typer.Option(
            min=1,
            help="Solve and report every N-th iteration and the last two; the others get their counts, which takes "
            "a fraction of the time.",
        ),
    ] = 1,
    kept: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Keep the first run in this folder, such as for its page."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how plan, solve, report and exporter grow: CPU time, memory, store requests, documents, exponents.

    Battles are drawn, not played, and every step runs in a process of its own over a store in a temporary folder. It
    reports the newest iteration, and the most that a step took in any.
    """
    from nashdex.core.errors import ConfigurationError
    from nashdex.telemetry.logging import configure_logging
    from nashdex_bench.scaling.growth import DIMENSIONS, IterationScale, Size, exponent_lines, lines
    from nashdex_bench.scaling.growth import scaling as measure

    base = Size(
        policies=policies,
        iterations=iterations,
        shards=shards,
        battles_per_pair=battles,
        draws=draws,
        seeds=seeds,
        every=every,
    )
    if base.first_policies < _FEWEST_FIRST_POLICIES:
        fewest = policies - base.first_policies + _FEWEST_FIRST_POLICIES
        raise ConfigurationError(
            f"--policies {policies} with --iterations {iterations} and --seeds {seeds}: expected at least {fewest} "
            "policies, since each later iteration trains that many and three are scripted"
        )

    def show(*texts: str) -> None:
        for text in () if as_json else texts:
            print_text(text)

    def note(scale: IterationScale) -> None:
        print_note(scale.model_dump_json())

    configure_logging()  # before a step that takes long logs its progress
    dimensions = DIMENSIONS if factor > 1 else ()
    result = measure(base, dimensions, factor, on_scale=lambda scale: show(*lines(scale)), on_iteration=note, kept=kept)
    show(*(line for found in result.exponents for line in exponent_lines(found)))
    if as_json:
        print_measured_json(result)


app.command()(calibration)
app.command()(cloning)
app.command()(acting)
app.command()(decide)
app.command()(envs)
app.command()(external)
app.command()(serve)

BENCH: Final = Command(run=app)
"""The entry of ``nashdex.commands``."""
