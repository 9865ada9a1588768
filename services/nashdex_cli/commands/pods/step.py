"""``nashdex step``: one step of one iteration, as every pod and local process runs it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

import nashdex
from nashdex.core.errors import ConfigurationError
from nashdex.core.steps import StepName
from nashdex_cli.commands.output import JsonOption, print_json, print_text

if TYPE_CHECKING:
    from nashdex.core.manifest import Manifest
    from nashdex.core.work import Work
    from nashdex.settings.run import RunSettings
    from nashdex.store.protocol import ObjectStore


def write_outputs(folder: Path, values: Mapping[str, int]) -> None:
    """Write each value to the file of its name in ``folder``.

    Raises:
        ConfigurationError: they cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in values.items():
            (folder / name).write_text(str(value))
    except OSError as error:
        raise ConfigurationError(f"--outputs {folder}: cannot be written ({error.strerror})") from error


_GRACE_SECONDS = 20.0


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
    import structlog

    from nashdex.core.stopping import check_stop, install_stop_handlers
    from nashdex.core.work import working_on
    from nashdex.local.processes import stop_at_end_of_input as watch_input
    from nashdex.planning.dag import step_function
    from nashdex.runs.creation import open_run
    from nashdex.settings.process import load_telemetry_settings
    from nashdex.store.verdict import reopen
    from nashdex.telemetry.metrics import observe_store
    from nashdex.telemetry.progress import timed
    from nashdex.telemetry.server import start_telemetry

    install_stop_handlers()
    if outputs is not None and name is not StepName.PLAN:
        raise ConfigurationError(f"--outputs has no effect on {name}: leave it out, or run the step plan")
    if stop_at_end_of_input:
        watch_input(_GRACE_SECONDS)
    opened = open_run(run, observe_store)
    shards = _shards(opened.settings, name, iteration, shard)
    start_telemetry(component=name, run=opened.id, format=opened.settings.format)
    log = structlog.get_logger(__name__)
    do_shard = step_function(name)
    if name is StepName.PLAN:
        reopen(opened.store)  # a Workflow begins with it
    manifests = []
    for number in shards:
        check_stop()
        with working_on(opened.id, iteration, name, number) as work, timed(name), _archived_log(opened.store, work):
            log.info("began", shard=number, nashdex=nashdex.__version__, retry=load_telemetry_settings().retry)
            manifest = do_shard(opened.store, opened.settings, iteration, number)
            log.info("done", shard=number, by_attempt=manifest.attempt, **manifest.counts)
            manifests.append(manifest)
    if outputs is not None:
        from nashdex.planning.dag import fan_out

        write_outputs(outputs, fan_out(opened.settings))
    if not as_json:
        for manifest in manifests:
            print_text(_describe(manifest))
    elif shard is not None:
        print_json(manifests[0].model_dump(mode="json"))
    else:
        print_json({"manifests": [manifest.model_dump(mode="json") for manifest in manifests]})


def _archived_log(store: "ObjectStore", work: "Work") -> AbstractContextManager[object]:
    """Return a context that archives the log of an attempt, if the environment says so."""
    from nashdex.core import keys
    from nashdex.settings.process import load_telemetry_settings
    from nashdex.telemetry.logging import LogArchive

    if not load_telemetry_settings().archive_logs:
        return nullcontext()
    return LogArchive(store.put, lambda part: keys.log_part(work.iteration, work.step, work.shard, work.attempt, part))


_ABSENT: Final = {
    StepName.ACT: "its training plays its own battles or none; actors.shards, the oracle and the format decide that",
    StepName.GATE: "its setting gate.test is 'none'",
}
"""Why a run has no such step."""


def _shards(settings: "RunSettings", name: StepName, iteration: int, shard: int | None) -> range:
    """Return the shards to do.

    Raises:
        ConfigurationError: the run has no such iteration or step, or the step no such shard.
    """
    from nashdex.planning.dag import num_shards

    if iteration >= settings.iterations:
        raise ConfigurationError(
            f"--iteration {iteration}: the run has {settings.iterations}, from 0 to {settings.iterations - 1}"
        )
    shards = range(num_shards(settings, name))
    if not shards:
        raise ConfigurationError(f"the run has no step {name}: {_ABSENT[name]}")
    if shard is None:
        return shards
    # Further actors may join, beyond the plan.
    if shard not in shards and name is not StepName.ACT:
        raise ConfigurationError(f"--shard {shard}: {name} has {len(shards)} in this run, from 0 to {shards[-1]}")
    return range(shard, shard + 1)


def _describe(manifest: "Manifest") -> str:
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in manifest.counts.items())
    where = f"{manifest.step} of iteration {manifest.iteration}, shard {manifest.shard}"
    return f"{where}: done in {manifest.seconds:.1f} s by attempt {manifest.attempt}{counts and ': ' + counts}"
