"""``nashdex bench calibration``: how far a critic's win probability can be believed."""

from typing import Annotated

import typer

from nashdex.commands.counting import counter
from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import SeedOption
from nashdex.core.stopping import install_stop_handlers


def calibration(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="A stored network, such as RUN_URI#newest or zoo:NAME.")
    ],
    *,
    against: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Its opponent. [default: itself, both seats counted]", show_default=False),
    ] = None,
    format_id: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Showdown format. [default: the policy's format]"),
    ] = None,
    battles: Annotated[int, typer.Option(min=2, max=1_000_000, help="Battles, as side-swapped pairs.")] = 1000,
    seed: SeedOption = 0,
    gateways: Annotated[int, typer.Option(min=1, max=64, help="Simulator processes.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Play battles and compare the critic's win probability at every decision with who won.

    Prints how often was won by bins of the prediction, and the expected calibration error, with an interval by
    resampled pairs of battles. The battles are new: use another seed than the training's for new battles.
    """
    install_stop_handlers()
    from nashdex.bench.calibration import bench_calibration, lines

    with counter("battles") as count:
        result = bench_calibration(
            policy,
            against=against,
            format_id=format_id,
            battles=battles,
            seed=seed,
            gateways=gateways,
            on_battle=count,
        )
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    for line in lines(result):
        print_text(line)
