"""Battles of other places, as text that the page reads: logs, replays, saved battles, battles of runs and reports."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.steps import StepName
from nashdex.core.user_input import read_file, shorten
from nashdex.games.showdown.replays import rename_players
from nashdex.report.document import Replay, Report, policy_names
from nashdex.report.sources import newest_report
from nashdex.runs.creation import open_run
from nashdex.store.attempt import read_manifest, read_object
from nashdex.store.documents import read_published, read_written
from nashdex_play.page.fetching import fetch

_MOST_BYTES: Final = 1 << 20
_MOST_REPORT_BYTES: Final = 1 << 26
_MOST_NAMED: Final = 10
"""Battles that a message lists."""
_REPLAYS_BEGIN: Final = '<script type="application/json" id="replay-pages">'
_REPLAYS_END: Final = "</script>"
_TIER = re.compile(r'\|tier\|([^|"\\\r\n]{1,100})')
_SAVED_FORMAT = re.compile(r'\{\s*"kind":\s*"nashdex battle".{0,100}?"format":\s*"([a-z0-9]{1,40})"', re.DOTALL)
_SHOWDOWN_REPLAY = re.compile(r"(https?://replay\.pokemonshowdown\.com/[a-z0-9-]+)(?:\?.*)?")
"""A replay's page, from either side (``?p2``). The log lies beside it."""


@dataclass(frozen=True, slots=True)
class BattleText:
    """One battle as text, which only the page reads."""

    text: str
    format: str
    """Id of its format."""


def read_battle(source: str) -> BattleText:
    """Return the battle that ``source`` names.

    A source is a path, a ``file:`` URL or a web address; of a report's page, with ``#NAME``. ``RUN#NAME`` is a battle
    of a run; the beginning of its name is enough where no other battle's is the same.

    Raises:
        ConfigurationError: the address is none.
        DataError: there is no such document or battle, or it does not name its format.
        TryAgainError: a server or a store does not answer.
    """
    place, _, name = source.partition("#")
    path = Path(unquote(urlsplit(place).path) if place.startswith("file:") else place)
    is_of_web = place.startswith(("http://", "https://"))
    if place.startswith("s3://") or (not is_of_web and path.is_dir()):
        return _of_run(place, name)
    most_bytes = _MOST_REPORT_BYTES if name else _MOST_BYTES
    if is_of_web:
        replay = _SHOWDOWN_REPLAY.fullmatch(place)
        address = f"{replay[1]}.log" if replay else place
        text = fetch(address, most_bytes).decode(errors="replace")
    else:
        text = read_file(path, "the file of one battle", most_bytes).decode(errors="replace")
    if name or _REPLAYS_BEGIN in text:
        text = _of_report(text, name, place)
    tier = _TIER.search(text)
    saved = _SAVED_FORMAT.match(text.lstrip())
    if saved is not None:
        return BattleText(text, saved[1])
    if tier is None:
        raise DataError(f"{source} does not name its format; expected a Showdown log, a replay file or a saved battle")
    # Ids of formats have the short word.
    return BattleText(text, re.sub(r"[^a-z0-9]", "", tier[1].lower()).replace("regulation", "reg"))


def _of_run(uri: str, name: str) -> BattleText:
    run = open_run(uri)
    report = read_written(run.store, newest_report(run.store), keys.REPORT, Report)
    found = _named(report, name)
    older = report
    while name and not found and older.payoffs.num_omitted and older.iteration:
        # The report of a large population lists the newest iteration's battles.
        older = read_published(run.store, older.iteration - 1, keys.REPORT, Report)
        found = _named(older, name)
    if len(found) != 1:
        raise _choice_needed(uri, name, [replay.name for replay in found or report.replays], is_prefix=bool(found))
    manifest = read_manifest(run.store, found[0].iteration, StepName.EVALUATE, found[0].shard)
    log = read_object(run.store, manifest, found[0].object).decode(errors="replace")
    shown = policy_names(report.policies)
    first, second = (shown[policy] for policy in found[0].policies)
    return BattleText(rename_players(log, (first, second)), report.format)


def _named(report: Report, name: str) -> list[Replay]:
    """Return the battle ``name``, or else those whose name begins with it."""
    exact = [replay for replay in report.replays if replay.name == name]
    return exact or [replay for replay in report.replays if name and replay.name.startswith(name)]


def _of_report(page: str, name: str, place: str) -> str:
    replays_json, _, _ = page.partition(_REPLAYS_BEGIN)[2].partition(_REPLAYS_END)
    try:
        replays = json.loads(replays_json)
    except (ValueError, RecursionError):
        replays = None
    if not isinstance(replays, dict):
        raise DataError(f"{place} is no report of nashdex: leave #{name} out, or name a report's page")
    if not isinstance(replays.get(name), str):
        raise _choice_needed(place, name, list(replays))
    return str(replays[name])


def _choice_needed(place: str, name: str, names: list[str], *, is_prefix: bool = False) -> DataError:
    """Return the error for a ``name`` that is not one of the battles ``names`` of a run or report."""
    if not names:
        return DataError(
            f"{place} holds no battles: a run on a Showdown format keeps evaluate.replays_per_pair of each pair"
        )
    listed = ", ".join(sorted(names)[:_MOST_NAMED])
    listed += f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    if not name:
        return DataError(f"{place} is no single battle; name one of its battles, as {place}#NAME: {listed}")
    return DataError(f"{place} has {'several battles' if is_prefix else 'no battle'} {shorten(name)}; it has {listed}")
