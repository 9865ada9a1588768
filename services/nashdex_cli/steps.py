"""Does shards of a step. ``nashdex step`` imports it when it runs, the server of warm children before it forks."""

from contextlib import AbstractContextManager, nullcontext
from typing import Final

import structlog

import nashdex
from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.core.work import Work, working_on
from nashdex.local.processes import stop_at_end_of_input
from nashdex.planning.dag import num_shards, step_function
from nashdex.runs.creation import open_run
from nashdex.settings.process import load_telemetry_settings
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore
from nashdex.store.verdict import reopen
from nashdex.telemetry.logging import LogArchive
from nashdex.telemetry.metrics import observe_store
from nashdex.telemetry.progress import timed
from nashdex.telemetry.server import start_telemetry

_GRACE_SECONDS: Final = 20.0
_ABSENT: Final = {
    StepName.ACT: "its training plays its own battles or none; actors.shards, the oracle and the format decide that",
    StepName.GATE: "its setting gate.test is 'none'",
}
"""Why a run has no such step."""

_log = structlog.get_logger()


def watch_input() -> None:
    """Stop this process when its standard input ends, and kill it if it does not stop."""
    stop_at_end_of_input(_GRACE_SECONDS)


def do_shards(run_uri: str, name: StepName, iteration: int, shard: int | None) -> tuple[RunSettings, list[Manifest]]:
    """Do a shard of a step, or all of its shards in turn; return the run's settings and the manifests.

    Raises:
        NashdexError: the run has no such shard, or the shard failed.
    """
    opened = open_run(run_uri, observe_store)
    shards = _shards(opened.settings, name, iteration, shard)
    start_telemetry(component=name, run=opened.id, format=opened.settings.format)
    do_shard = step_function(name)
    if name is StepName.PLAN:
        reopen(opened.store)  # a Workflow begins with it
    manifests = []
    for number in shards:
        check_stop()
        with working_on(opened.id, iteration, name, number) as work, timed(name), _archived_log(opened.store, work):
            _log.info("began", shard=number, nashdex=nashdex.__version__, retry=load_telemetry_settings().retry)
            manifest = do_shard(opened.store, opened.settings, iteration, number)
            _log.info("done", shard=number, by_attempt=manifest.attempt, **manifest.counts)
            manifests.append(manifest)
    return opened.settings, manifests


def describe(manifest: Manifest) -> str:
    """Return a line for people about a finished shard."""
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in manifest.counts.items())
    where = f"{manifest.step} of iteration {manifest.iteration}, shard {manifest.shard}"
    return f"{where}: done in {manifest.seconds:.1f} s by attempt {manifest.attempt}{counts and ': ' + counts}"


def _archived_log(store: ObjectStore, work: Work) -> AbstractContextManager[object]:
    """Return a context that archives the log of an attempt, if the environment says so."""
    if not load_telemetry_settings().archive_logs:
        return nullcontext()
    return LogArchive(store.put, lambda part: keys.log_part(work.iteration, work.step, work.shard, work.attempt, part))


def _shards(settings: RunSettings, name: StepName, iteration: int, shard: int | None) -> range:
    """Return the shards to do.

    Raises:
        ConfigurationError: the run has no such iteration or step, or the step no such shard.
    """
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
