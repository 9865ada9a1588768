"""Runs that a user may have meant, where the folder that was named holds none."""

from difflib import get_close_matches
from pathlib import Path
from typing import Final

from nashdex.core.keys import CONFIG
from nashdex.store.naming import Bucket, parse_uri

_MOST_LISTED: Final = 5


def runs_nearby(uri: str) -> str:
    """Return which runs the folder ``uri`` holds, or which beside it have similar names, and a space; or nothing.

    Buckets are not listed.
    """
    place = parse_uri(uri)
    if isinstance(place, Bucket):
        return ""
    within = _runs(place)
    if within:
        named = ", ".join(within[:_MOST_LISTED]) + (", …" if len(within) > _MOST_LISTED else "")
        return f"it is the store of {named}: name one, such as {uri.rstrip('/')}/{within[0]}; "
    before = uri.rstrip("/").removesuffix(place.name)
    near = [f"{before}{name}" for name in get_close_matches(place.name, _runs(place.parent))]
    return f"did you mean {' or '.join(near)}? " if near else ""


def _runs(folder: Path) -> list[str]:
    try:
        return sorted(each.name for each in folder.iterdir() if (each / CONFIG).is_file())
    except OSError:  # it is missing, a file, or not readable
        return []
