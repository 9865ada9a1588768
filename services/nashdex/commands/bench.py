"""``nashdex bench``: how fast this machine is."""

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
