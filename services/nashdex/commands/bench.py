"""``nashdex bench``: how fast this machine is."""

import sys
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text

app = typer.Typer(no_args_is_help=True, help="Measure how fast this machine is.")


@app.callback()
def bench() -> None:
    """Measure how fast this machine is."""


@app.command()
def collect(
    format_id: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Such as gen1randombattle.")],
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Of each measurement.")] = 20.0,
    repetitions: Annotated[int, typer.Option(min=1, max=100, help="Of both measurements, in turn.")] = 3,
    as_json: JsonOption = False,
) -> None:
    """Measure collecting, and the bare simulator with random choices, in turn; ``efficiency`` is their ratio."""
    from nashdex.collector.bench import run_bench

    result = run_bench(format_id, seconds=seconds, repetitions=repetitions)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    print_text(f"{result.format}: {result.decisions_per_cpu_second:,.0f} decisions a CPU-second while collecting")
    print_text(f"bare simulator: {result.raw_decisions_per_cpu_second:,.0f}; efficiency {result.efficiency:.2f}")
    print_text(f"{result.decisions_per_second:,.0f} decisions/s, {result.resident_bytes / 2**20:,.0f} MiB resident")


@app.command()
def conformance(
    formats: Annotated[
        str | None, typer.Option(metavar="FORMAT,…", help="Any that Showdown has; by default 46.")
    ] = None,
    battles: Annotated[int, typer.Option(min=1, max=10_000_000, help="In all, format by format in turn.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Root of every seed.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Play the same battles with the simulator as published and as sped up; exit 65 if they differ in anything."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from nashdex.core.errors import DataError
    from nashdex.games.showdown.conformance import run_conformance

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
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        print_text(f"{result.battles:,} battles of {len(result.formats)} formats, {result.decisions:,} decisions")
        print_text(f"{result.differences:,} differ")
    if first := result.first_difference:
        raise DataError(
            f"the sped-up simulator plays {result.differences} of {result.battles} battles differently, first battle "
            f"{first.battle} of {first.format}: it says `{first.accelerated}` where the published one says "
            f"`{first.plain}`; set NASHDEX_GATEWAY_ACCELERATION=false until it is mended"
        )
