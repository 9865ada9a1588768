"""``nashdex begin``: create a run in its store without running it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.user_input import read_file
from nashdex_cli.commands.output import JsonOption, print_answer, write_outputs
from nashdex_cli.commands.run_options import CONFIG_HELP, OverridesOption, RunIdOption, StoreOption

if TYPE_CHECKING:
    from nashdex.runs.creation import Run


def begin(
    config: Annotated[Path | None, typer.Argument(metavar="CONFIG.toml", help=CONFIG_HELP)] = None,
    bundle: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A run packed by `nashdex submit`, instead of CONFIG.")
    ] = None,
    store: StoreOption = "runs",
    run: RunIdOption = None,
    overrides: OverridesOption = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for two files: the first iteration without a report, and the number of iterations left.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a run in its store, for steps that run elsewhere. Does nothing if it exists with the same settings.

    If FILE is empty, --run names a run that exists.
    """
    from nashdex.runs.creation import create_run, open_run, prepare_run
    from nashdex_cluster.bundle import unpack

    if (config is None) == (bundle is None):
        raise ConfigurationError("expected either CONFIG.toml or --bundle FILE")
    if config is not None:
        begun = create_run(store, prepare_run(config, name=run, overrides=overrides))
    elif bundle is not None:
        if overrides:
            raise ConfigurationError("--set cannot be used with --bundle, whose settings are complete")
        data = read_file(bundle, "a bundle").strip()
        if not data and run is None:
            raise DataError(f"{bundle} is empty; expected a bundle, or the id of a run that exists with --run")
        begun = create_run(store, unpack(data, str(bundle))) if data else open_run(f"{store.rstrip('/')}/{run}")
        if run not in {None, begun.id}:
            raise ConfigurationError(f"--run is {run}, but {bundle} holds run {begun.id}")
    begin_elsewhere(begun, outputs, as_json=as_json)


def begin_elsewhere(begun: "Run", outputs: Path | None, *, as_json: bool) -> None:
    """Print the remaining iterations of a run whose steps run elsewhere, and write them to ``outputs``."""
    from nashdex.runs.creation import first_without_report
    from nashdex.store.verdict import reopen

    first = first_without_report(begun)
    reopen(begun.store)
    if outputs is not None:
        left = begun.settings.iterations - first
        write_outputs(outputs, {"first-iteration": first, "num-iterations": left})
    iterations, uri = begun.settings.iterations, begun.store.uri
    done = f", {first} of them done" if first else ""
    print_answer(
        {"run": begun.id, "uri": uri, "iterations": iterations, "first_iteration": first},
        [f"run {begun.id} has {iterations} iterations{done}, in {uri}"],
        as_json=as_json,
    )
