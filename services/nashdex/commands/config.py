"""``nashdex config``: show and describe the settings of a run."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json

app = typer.Typer(no_args_is_help=True, help="Show and describe the settings of a run.")


@app.command()
def show(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="Settings of a run.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, such as collect.battles=500. Repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the resolved settings of a file as JSON.

    Later wins: defaults, the file, the environment (NASHDEX_COLLECT__BATTLES=500), --set.
    """
    from nashdex.runs.creation import resolve_settings

    del as_json  # the output is always JSON
    print_json(resolve_settings(config, overrides).model_dump(mode="json"))


@app.command()
def schema(as_json: JsonOption = False) -> None:
    """Print the JSON Schema of the settings: every key with its meaning, unit, range and default."""
    from nashdex.settings.run import RunSettings

    del as_json  # the output is always JSON
    print_json(RunSettings.model_json_schema())
