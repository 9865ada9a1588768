"""Battles of other places, as text that the page reads: a log, a replay file, a saved battle, a battle of a report."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from nashdex.core.errors import DataError
from nashdex.core.user_input import shorten

_MOST_BYTES: Final = 1 << 20
_MOST_REPORT_BYTES: Final = 1 << 26
_REPLAYS = re.compile(r'<script type="application/json" id="replay-pages">(.*?)</script>', re.DOTALL)
_TIER = re.compile(r'\|tier\|([^|"\\\r\n]{1,100})')
_SAVED_FORMAT = re.compile(r'\{\s*"kind":\s*"nashdex battle".{0,100}?"format":\s*"([a-z0-9]{1,40})"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class BattleText:
    """One battle as text, which only the page reads."""

    text: str
    format: str
    """Id of its format."""


def read_battle(source: str) -> BattleText:
    """Return the battle in a file: its path or ``file:`` URL, with ``#NAME`` for one of a report.

    Raises:
        DataError: there is no such file or battle, or it does not name its format.
    """
    path, _, name = source.partition("#")
    file = Path(unquote(urlsplit(path).path) if path.startswith("file:") else path)
    text = _read(file, _MOST_REPORT_BYTES if name else _MOST_BYTES)
    if name:
        text = _of_report(text, name, file)
    tier = _TIER.search(text)
    saved = _SAVED_FORMAT.match(text.lstrip())
    if saved is not None:
        return BattleText(text, saved[1])
    if tier is None:
        raise DataError(f"{source} does not name its format; expected a Showdown log, a replay file or a saved battle")
    # Ids of formats have the short word.
    return BattleText(text, re.sub(r"[^a-z0-9]", "", tier[1].lower()).replace("regulation", "reg"))


def _read(file: Path, most_bytes: int) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(most_bytes + 1)
    except OSError as error:
        raise DataError(f"{file} cannot be read ({error.strerror}); name a battle's file") from error
    if len(content) > most_bytes:
        raise DataError(f"{file} has more than {most_bytes:,} bytes; expected the file of one battle")
    return content.decode(errors="replace")


def _of_report(page: str, name: str, file: Path) -> str:
    found = _REPLAYS.search(page)
    try:
        replays = json.loads(found[1]) if found else None
    except ValueError:
        replays = None
    if not isinstance(replays, dict):
        raise DataError(f"{file} is no report of nashdex: leave #{name} out, or name a report's page")
    if not isinstance(replays.get(name), str):
        raise DataError(f"{file} has no battle {shorten(name)}; it has {', '.join(sorted(replays)[:10]) or 'none'}")
    return str(replays[name])
