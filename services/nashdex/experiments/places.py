"""Where the logs of an experiment are."""

import os
from pathlib import Path

from nashdex.store.naming import parse_uri


def logs_folder(store_uri: str, experiment: str) -> Path:
    """Return the folder for logs of an experiment's commands: in a local store, else in the user's state folder."""
    place = parse_uri(store_uri)
    if isinstance(place, Path):
        return place / f"{experiment}.logs"
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "nashdex" / f"{experiment}.logs"
