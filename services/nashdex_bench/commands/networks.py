"""``nashdex bench calibration`` and ``nashdex bench cloning``: what networks know and learn."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.core.stopping import install_stop_handlers
from nashdex_bench.commands.results import print_measured
from nashdex_cli.commands.output import JsonOption, counter
from nashdex_cli.commands.run_options import SeedOption


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

    Prints the share of won battles by bins of the prediction, and the expected calibration error, with an interval by
    resampled pairs of battles. Use another seed than the training's, so that the battles are new.
    """
    install_stop_handlers()
    from nashdex_bench.calibration import bench_calibration, lines

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
    print_measured(result, lines, as_json=as_json)


_MINIBATCH = 64
"""Decisions of an optimiser step. Logs of people's double battles are few."""


def cloning(
    logs: Annotated[
        Path,
        typer.Argument(metavar="LOGS", help="Raw Showdown replays of double battles, as for `nashdex data import`."),
    ],
    *,
    format_id: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Doubles format of the battles.")],
    folds: Annotated[int, typer.Option(min=2, max=100, help="Parts of the battles; each is predicted once.")] = 6,
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="Passes over the decisions of the other folds.")] = 20,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Clone people's double battles by cross-validation and print the accuracy on held-out battles.

    Each slot counts whose choice is known and not the only one. The most frequent legal choice of the other battles is
    the reference; accuracies and margin have an interval by resampled battles.
    """
    install_stop_handlers()
    from nashdex.settings.oracles import CloneSettings
    from nashdex.settings.run import canonical_format
    from nashdex.telemetry.logging import configure_logging
    from nashdex_bench.cloning import bench_cloning, lines

    configure_logging()
    settings = CloneSettings(num_epochs=epochs, minibatch_decisions=_MINIBATCH, critic_warmup_epochs=0)
    with counter("folds") as report:
        result = bench_cloning(logs, canonical_format(format_id), settings, num_folds=folds, seed=seed, on_fold=report)
    print_measured(result, lines, as_json=as_json)
