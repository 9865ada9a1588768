"""The report step: one document with every number, and one page to read and to send."""

from pathlib import Path

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import RunId
from nashdex.core.manifest import Manifest
from nashdex.core.settings import RunSettings
from nashdex.core.steps import StepName
from nashdex.solver.report_document import Report, replays_to_embed
from nashdex.solver.report_sources import read_iteration
from nashdex.store.attempt import Attempt, find_manifest, newest_manifest, read_manifest, read_object
from nashdex.store.protocol import ObjectStore


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish ``report.json`` and ``report.html`` of the run as it stands after ``iteration``.

    Raises:
        DataError: an earlier step is not done, or what it wrote is missing or altered.
        StoppedError: the process was asked to stop.
    """
    if done := find_manifest(store, iteration, StepName.REPORT, shard):
        return done
    from nashdex.solver.report_assembly import assemble  # noqa: PLC0415 - scipy takes longer than a finished step
    from nashdex.solver.report_page import render_page  # noqa: PLC0415 - so does jinja2

    attempt = Attempt(store, iteration, StepName.REPORT, shard)
    iterations = [read_iteration(store, settings, number) for number in range(iteration + 1)]
    report = assemble(settings.run or _run_id(store), settings, iterations)
    logs = read_logs(store, report)
    page = render_page(report, logs).encode()
    attempt.write(keys.REPORT, report.to_json())
    attempt.write(keys.REPORT_PAGE, page)
    # Everything follows from what earlier steps wrote, so attempts that race publish the same bytes.
    store.put(keys.published(iteration, keys.REPORT), report.to_json())
    store.put(keys.published(iteration, keys.REPORT_PAGE), page)
    return attempt.finish({"iterations": len(iterations), "replays": len(logs)})


def read_logs(store: ObjectStore, report: Report) -> dict[str, str]:
    """Return the logs of the replays that a page of ``report`` embeds, by the replays' names.

    Raises:
        DataError: a log is missing or altered.
    """
    logs = {}
    for replay in replays_to_embed(report):
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
