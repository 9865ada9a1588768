"""Arguments of the commands that read the settings of a run, or name a run or its store."""

from pathlib import Path
from typing import Annotated

import typer

CONFIG_HELP = "Settings; see `nashdex config schema`."

ConfigArgument = Annotated[Path, typer.Argument(metavar="CONFIG.toml", help=CONFIG_HELP)]
OverridesOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, such as collect.battles=500. Repeatable."),
]
ProcessesOption = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Steps that run at once. [default: the number of cores]")
]
RunIdOption = Annotated[
    str | None,
    typer.Option("--run", metavar="ID", help="Id of the run. [default: the file's, or its name and a hash]"),
]
RunUriArgument = Annotated[str, typer.Argument(metavar="RUN_URI", help="URI of the run, as `nashdex run` prints it.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Root of every seed.")]
StoreOption = Annotated[str, typer.Option(metavar="URI", help="Store: a path, file://… or s3://bucket/prefix.")]
TeamSetOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Set of teams to draw from: see `nashdex formats --teams`.")
]
GatewaysOption = Annotated[int, typer.Option(min=1, max=64, help="Simulator processes.")]
PlayerArgument = Annotated[
    str, typer.Argument(metavar="POLICY", help="As `nashdex battle --p1` takes it, such as RUN_URI#newest@greedy.")
]
CalibrationOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--calibration",
        metavar="FILE.json",
        help="File with the output of `nashdex bench calibration POLICY --json`; the board states it. Repeatable.",
        show_default=False,
    ),
]
