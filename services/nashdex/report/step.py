"""The report step: one document with every number, and one page to read and to send."""

from collections.abc import Sequence
from pathlib import Path

import nashdex
from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import RunId
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.metagame.evidence.ledger import BattleRecord
from nashdex.report.document import IterationRow, Replay, Report, replays_to_embed
from nashdex.report.sources import (
    IterationManifests,
    IterationSources,
    read_iteration,
    read_ledgers,
    read_manifests,
)
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_manifest, newest_manifest, read_manifest, read_object
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish ``report.json`` and ``report.html`` of the run as it stands after ``iteration``.

    Raises:
        DataError: an earlier step is not done, or what it wrote is missing or altered.
        StoppedError: the process was asked to stop.
    """
    if done := find_manifest(store, iteration, StepName.REPORT, shard):
        return done
    from nashdex.report.assembly.report import assemble  # noqa: PLC0415 - scipy takes longer than a finished step
    from nashdex.report.page.render import render_page  # noqa: PLC0415 - so does jinja2

    attempt = Attempt(store, iteration, StepName.REPORT, shard)
    *earlier, newest = [read_manifests(store, settings, number) for number in range(iteration + 1)]
    last = read_iteration(store, newest)
    rows, replays = _told(store, earlier, last)
    report = assemble(
        settings.run or _run_id(store),
        settings,
        last,
        rows=rows,
        replays=replays,
        records=_records(store, earlier, last),
    )
    logs = read_logs(store, report)
    page = render_page(report, logs).encode()
    attempt.write(keys.REPORT, report.to_json())
    attempt.write(keys.REPORT_PAGE, page)
    # Everything follows from what earlier steps wrote, so attempts that race publish the same bytes.
    store.put(keys.published(iteration, keys.REPORT), report.to_json())
    store.put(keys.published(iteration, keys.REPORT_PAGE), page)
    return attempt.finish({"iterations": len(rows), "replays": len(logs)})


def _told(
    store: ObjectStore, earlier: Sequence[IterationManifests], last: IterationSources
) -> tuple[list[IterationRow], list[Replay]]:
    """Return rows and replays of every iteration.

    What the report before this one told of the same attempts is taken from there, so that a long run's reports do not
    read every learning curve and matrix again.
    """
    from nashdex.report.assembly.iterations import iteration_row  # noqa: PLC0415 - numpy takes longer than a finished step
    from nashdex.report.assembly.replays import replays as iteration_replays  # noqa: PLC0415 - the same

    before = _report_before(store, last.iteration)
    known = {row.iteration: row for row in before.iterations} if before else {}
    rows, replays = [], []
    for manifests in earlier:
        row = known.get(manifests.iteration)
        if before is not None and row is not None and row.sources == manifests.digest:
            rows.append(row)
            replays += [replay for replay in before.replays if replay.iteration == row.iteration]
        else:
            sources = read_iteration(store, manifests)
            rows.append(iteration_row(sources))
            replays += iteration_replays(sources)
    return [*rows, iteration_row(last)], [*replays, *iteration_replays(last)]


def _report_before(store: ObjectStore, iteration: int) -> Report | None:
    """Return the report of the iteration before, if this version made one. It only saves time: a bad one is none."""
    try:
        manifest = find_manifest(store, iteration - 1, StepName.REPORT, 0) if iteration else None
        if manifest is None or manifest.nashdex_version != nashdex.__version__:
            return None
        return read_written(store, manifest, keys.REPORT, Report)
    except DataError:
        return None


def _records(
    store: ObjectStore, earlier: Sequence[IterationManifests], last: IterationSources
) -> tuple[BattleRecord, ...]:
    """Return the battles of every iteration's tournament. Exact payoffs have none."""
    if not last.matrix.evidence.is_played:
        return ()
    evaluated = [*(each for manifests in earlier for each in read_ledgers(store, manifests)), *last.evaluated]
    return tuple(record for each in evaluated for record in each.ledger.battles)


def read_logs(store: ObjectStore, report: Report) -> dict[str, str]:
    """Return the logs of the replays that a page of ``report`` embeds, by the replays' names.

    Raises:
        DataError: a log is missing or altered.
    """
    logs = {}
    for replay in replays_to_embed(report.replays):
        manifest = read_manifest(store, replay.iteration, StepName.EVALUATE, replay.shard)
        logs[replay.name] = read_object(store, manifest, replay.object).decode()
    return logs


def write_page(store: ObjectStore, output: Path) -> None:
    """Write the page of the run's newest reported iteration to the file ``output``, whole or not at all.

    Raises:
        DataError: no iteration has a report yet, it was altered, or ``output`` cannot be written.
    """
    newest = newest_manifest(store, StepName.REPORT)
    if newest is None:
        raise DataError(
            f"{store.uri} has no report yet: its first iteration is not finished. "
            f"Go on with 'nashdex run', or make one with 'nashdex step report --run {store.uri} --iteration 0'"
        )
    page = read_object(store, newest, keys.REPORT_PAGE)
    beside = output.with_name(f".{output.name}.part")
    try:
        beside.write_bytes(page)
        beside.replace(output)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise DataError(f"{output} cannot be written ({error.strerror}); name another --output") from error


def _run_id(store: ObjectStore) -> RunId:
    return RunId(store.uri.rstrip("/").rpartition("/")[2])
