"""``nashdex step``: one step of one iteration, as every pod and local process runs it."""

from pathlib import Path
from typing import Annotated

import typer

from nashdex.core.errors import ConfigurationError
from nashdex.core.steps import StepName
from nashdex.core.stopping import install_stop_handlers
from nashdex_cli.commands.output import JsonOption, print_json, print_text, write_outputs


def step(
    name: Annotated[StepName, typer.Argument(metavar="NAME", help=f"One of {', '.join(StepName)}.")],
    run: Annotated[str, typer.Option(metavar="URI", help="The run's URI: the store's, then the run's id.")],
    iteration: Annotated[int, typer.Option(min=0, help="Iteration, from 0.")],
    shard: Annotated[
        int | None, typer.Option(min=0, help="Shard, from 0. [default: all shards of the step, in turn]")
    ] = None,
    stop_at_end_of_input: Annotated[
        bool, typer.Option("--stop-at-end-of-input", help="Stop when standard input ends: with the parent process.")
    ] = False,
    outputs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="For plan: write each step's number of shards to a file here."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a step, unless its manifest shows that it is done.

    A step reads everything from the run's store and writes everything to it. Its exit code says what to do next: 0
    done, 64 or 65 do not retry, 75 retry, 143 stopped and saved. With --json and --shard it prints the manifest,
    without --shard {"manifests": [...]}.
    """
    install_stop_handlers()
    if outputs is not None and name is not StepName.PLAN:
        raise ConfigurationError(f"--outputs has no effect on {name}: leave it out, or run the step plan")
    from nashdex.planning.dag import fan_out
    from nashdex_cli.steps import describe, do_shards, watch_input

    if stop_at_end_of_input:
        watch_input()
    settings, manifests = do_shards(run, name, iteration, shard)
    if outputs is not None:
        write_outputs(outputs, fan_out(settings))
    if not as_json:
        for manifest in manifests:
            print_text(describe(manifest))
    elif shard is not None:
        print_json(manifests[0].model_dump(mode="json"))
    else:
        print_json({"manifests": [manifest.model_dump(mode="json") for manifest in manifests]})
