"""Files of raw replays: ``.json`` of one or of many by id, ``.jsonl`` of one a line, ``.log``; each maybe ``.gz``."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import MAX_LOG_BYTES, RawReplay, parse, parse_log

_SUFFIXES: Final = (".json", ".jsonl", ".log")
_FORMAT = re.compile(r"gen[0-9][a-z0-9]*")
_TIME = re.compile(r"^\|t:\|([0-9]{1,12})\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """One raw replay, or why there is none."""

    name: str
    """Names it in messages."""
    content: bytes | RefusedReplayError
    is_text: bool = False
    """A plain log, whose file name is the battle's id."""

    def read(self) -> RawReplay:
        """Return the replay.

        Raises:
            RefusedReplayError: it is none, or one that cannot be reconstructed.
        """
        if isinstance(self.content, RefusedReplayError):
            raise self.content
        if not self.is_text:
            return parse(self.content, self.name)
        log = self.content.decode(errors="replace")
        battle = Path(self.name).name.partition(".")[0].removeprefix("battle-")
        formats, time = _FORMAT.findall(battle), _TIME.search(log)
        if not formats:
            raise RefusedReplayError("no-id", f"{self.name}: expected a name such as gen1ou-1234.log")
        return parse_log(log, battle, formats[0], time[1] if time else 0, self.name)


def sources(root: Path) -> Iterator[Source]:
    """Yield the replays of a file, or of all files in a folder and its folders, by name.

    Raises:
        ConfigurationError: there is no such file or folder.
    """
    if root.is_file():
        yield from _of_file(root)
    elif root.is_dir():
        for path in sorted(path for path in root.rglob("*") if _suffix(path) in _SUFFIXES and path.is_file()):
            yield from _of_file(path)
    else:
        raise ConfigurationError(f"{root} is neither a file nor a folder; expected raw Showdown replays")


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix


def _of_file(path: Path) -> Iterator[Source]:
    suffix = _suffix(path)
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            if suffix == ".jsonl":
                yield from _of_lines(path, file)
            elif suffix == ".json":
                yield from _of_object(str(path), _bounded(file.read(MAX_LOG_BYTES + 1), str(path)))
            else:
                yield Source(str(path), _bounded(file.read(MAX_LOG_BYTES + 1), str(path)), is_text=suffix == ".log")
    except (OSError, EOFError, zlib.error) as error:
        yield Source(str(path), RefusedReplayError("unreadable", f"{path} cannot be read: {error}"))


def _of_object(name: str, content: bytes | RefusedReplayError) -> Iterator[Source]:
    """Yield the replay of a file, or the logs of one that has many by the battles' ids, as VGC-Bench writes them."""
    many = None if isinstance(content, RefusedReplayError) else _logs_by_battle(content)
    if many is None:
        yield Source(name, content)
        return
    for battle, (time, log) in many.items():
        formats = _FORMAT.findall(battle)
        replay = {"id": battle, "formatid": formats[0] if formats else "", "log": log, "uploadtime": time}
        yield Source(f"{name}:{battle}", json.dumps(replay).encode())


def _logs_by_battle(content: bytes) -> dict[str, tuple[object, str]] | None:
    """Return the times and logs of ``{id: [time, log]}``; None if ``content`` is something else."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or not given:
        return None
    found = {}
    for battle, value in given.items():
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], str)):
            return None
        found[battle] = (value[0], value[1])
    return found


def _of_lines(path: Path, file: BufferedIOBase) -> Iterator[Source]:
    number = 0
    while line := file.readline(MAX_LOG_BYTES + 1):
        number += 1
        name = f"{path}:{number}"
        yield Source(name, _bounded(line, name))
        while len(line) > MAX_LOG_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LOG_BYTES + 1)


def _bounded(content: bytes, name: str) -> bytes | RefusedReplayError:
    if len(content) > MAX_LOG_BYTES:
        return RefusedReplayError("too-large", f"{name} has more than {MAX_LOG_BYTES:,} bytes")
    return content
