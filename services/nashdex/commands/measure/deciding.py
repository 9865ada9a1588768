"""``nashdex bench decide``: how fast a policy decides for battles that run elsewhere."""

from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import SeedOption


def decide(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="As `nashdex decide` takes it, such as RUN_URI#newest@greedy.")
    ],
    *,
    format_id: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Showdown format. [default: the policy's run's format]"),
    ] = None,
    questions: Annotated[int, typer.Option(min=10, max=1_000_000, help="Decisions to ask for.")] = 640,
    batch: Annotated[int, typer.Option(min=1, max=4096, help="Questions of a batch.")] = 64,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure `nashdex decide` without HTTP: questions one after another, then in batches.

    The questions come from battles between random players; each holds its battle's whole log.
    """
    from nashdex.bench.decide import bench_decide, lines

    result = bench_decide(policy, format_id, questions=questions, batch=batch, seed=seed)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    for line in lines(result):
        print_text(line)
