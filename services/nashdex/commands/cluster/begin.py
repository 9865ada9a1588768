"""``nashdex begin``: create a run in its store without running it."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.core.errors import ConfigurationError, DataError


def begin(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.toml]", help="Settings; see `nashdex config schema`.")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A run packed by `nashdex submit`, instead of CONFIG.")
    ] = None,
    store: Annotated[str, typer.Option(metavar="URI", help="Path, file://… or s3://bucket/prefix.")] = "runs",
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Run id. [default: the file's, or derived from its name]")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, such as collect.battles=500."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a run in its store, for steps that run elsewhere. Does nothing if it exists with the same settings."""
    from nashdex.runs.bundle import unpack
    from nashdex.runs.creation import create_run, prepare_run

    if (config is None) == (bundle is None):
        raise ConfigurationError("expected either CONFIG.toml or --bundle FILE")
    if config is not None:
        prepared = prepare_run(config, name=run, overrides=overrides)
    elif bundle is not None:
        if run is not None or overrides:
            raise ConfigurationError("--run and --set cannot be used with --bundle, whose settings are complete")
        prepared = unpack(_read(bundle), str(bundle))
    begun = create_run(store, prepared)
    if as_json:
        print_json({"run": begun.id, "uri": begun.store.uri, "iterations": begun.settings.iterations})
    else:
        print_text(f"created run {begun.id} with {begun.settings.iterations} iterations in {begun.store.uri}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a bundle") from error
