"""``nashdex config``: show and describe the settings of a run."""

import typer

from nashdex_cli.commands.groups import CommandGroup
from nashdex_cli.commands.output import JsonOption, print_json
from nashdex_cli.commands.run_options import ConfigArgument, OverridesOption

app = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Show and describe the settings of a run.")


@app.command()
def show(
    config: ConfigArgument,
    overrides: OverridesOption = None,
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
