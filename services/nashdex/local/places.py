"""Where the user of this machine finds a run's logs and its report."""

from pathlib import Path

from nashdex.core import keys
from nashdex.core.machine import state_folder
from nashdex.runs.creation import Run
from nashdex.store.naming import parse_uri


def logs_folder(run: Run) -> Path:
    """Return the folder for the run's local logs: inside the run if it is a directory, else in the user's state folder.

    Logs are not part of a run: no step reads them, and other machines keep their own.
    """
    place = parse_uri(run.store.uri)
    if isinstance(place, Path):
        return place / "logs"
    return state_folder() / run.id / "logs"


def report_address(run: Run, iteration: int) -> str:
    """Return the URL of an iteration's report page; for a bucket, its key and the command that downloads it."""
    place = parse_uri(run.store.uri)
    key = keys.published(iteration, keys.REPORT_PAGE)
    if isinstance(place, Path):
        return (place / key).as_uri()
    return f"{run.store.uri}/{key} (to open it: nashdex report {run.store.uri} --output report.html)"
