"""Raw replays as objects of a store: checked, without chat and names, in parts that are named by their hash."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

import lz4.frame
from pydantic import Field, NonNegativeInt

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.manifest import StoredObject
from nashdex.settings.oracles import ReplaySettings
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, is_wanted, parse
from nashdex_replays.sources import sources

PART_BYTES: Final = 16 << 20
"""Text of one part, before compression."""
MAX_PACKED_BYTES: Final = 1 << 30
"""Most bytes of all parts. A battle takes about 2 KB."""
_PSEUDONYM_PREFIX: Final = "player-"
_PSEUDONYM_DIGITS: Final = 12


class PackedReplays(Document):
    """The raw replays that are stored with a run. Their parts are lz4 frames of JSON, one replay a line."""

    format: str
    replays: NonNegativeInt
    left_out: NonNegativeInt = Field(description="Battles of other formats, or without a wanted player.")
    refused: dict[str, NonNegativeInt] = Field(description="Files that could not be read as replays, by cause.")
    parts: tuple[StoredObject, ...]


def pack(settings: ReplaySettings, format_id: str) -> dict[str, bytes]:
    """Return the objects to store, by key, of the replays of a format with a player to learn from.

    Raises:
        ConfigurationError: there is no such file or folder.
        DataError: no replay is wanted, or they are too many.
    """
    root = settings.path
    assert root is not None, "replays that are used have a path"

    def wanted(replay: RawReplay, seat: int) -> bool:
        return is_wanted(replay, seat, min_rating=settings.min_rating, winners_only=settings.winners_only)

    packer = _Packer()
    refused: Counter[str] = Counter()
    left_out = 0
    for source in sources(root):
        try:
            replay = source.read()
        except RefusedReplayError as refusal:
            refused[refusal.cause] += 1
            continue
        if replay.format == format_id and (wanted(replay, 0) or wanted(replay, 1)):
            packer.add(replay)
        else:
            left_out += 1
    packer.finish()
    if not packer.replays:
        causes = ", ".join(f"{cause} {count}" for cause, count in sorted(refused.items())) or "none"
        raise DataError(
            f"{root} has no replay of {format_id} to learn from: {left_out} are of other formats or not wanted; "
            f"refused: {causes}"
        )
    document = PackedReplays(
        format=format_id,
        replays=packer.replays,
        left_out=left_out,
        refused=dict(sorted(refused.items())),
        parts=tuple(StoredObject.of(key, data) for key, data in packer.parts.items()),
    )
    return {keys.REPLAYS: document.to_json(), **packer.parts}


class _Packer:
    def __init__(self) -> None:
        self.replays = 0
        self.parts: dict[str, bytes] = {}
        self._lines: list[bytes] = []
        self._line_bytes = 0
        self._packed_bytes = 0

    def add(self, replay: RawReplay) -> None:
        line = json.dumps(without_names(replay)).encode() + b"\n"
        self._lines.append(line)
        self._line_bytes += len(line)
        self.replays += 1
        if self._line_bytes >= PART_BYTES:
            self.finish()

    def finish(self) -> None:
        if not self._lines:
            return
        part: bytes = lz4.frame.compress(
            b"".join(self._lines), compression_level=lz4.frame.COMPRESSIONLEVEL_MINHC, store_size=True
        )
        self._packed_bytes += len(part)
        if self._packed_bytes > MAX_PACKED_BYTES:
            raise DataError(
                f"the replays take more than {MAX_PACKED_BYTES:,} bytes when packed; name fewer, or raise "
                "train.first.replays.min_rating"
            )
        self.parts[keys.replay_part(hashlib.sha256(part).hexdigest())] = part
        self._lines, self._line_bytes = [], 0


def without_names(replay: RawReplay) -> dict[str, object]:
    """Return a replay as Showdown's JSON has it, with pseudonyms for the players."""
    lines = [line.split("|") for line in replay.lines if line.startswith("|player|")]
    found = {*replay.players, *(parts[3] for parts in lines if len(parts) > 3 and parts[3])}
    # A name may begin another one.
    names = {name: pseudonym(name) for name in sorted(found, key=lambda name: (-len(name), name))}
    beside: dict[str, object] = {}
    if replay.inputs is not None:
        sides = zip(("p1", "p2"), replay.inputs, strict=True)
        beside["inputLog"] = [f">{side} {choice}" for side, choices in sides for choice in choices]
    for side, team, rating, glicko in zip(("p1", "p2"), replay.sheets, replay.ratings, replay.glicko, strict=True):
        if team:
            beside[f"{side}team"] = [sheet.to_json() for sheet in team]
        if glicko is not None:
            beside[f"{side}rating"] = {"elo": rating, "rpr": glicko}
        elif rating is not None:
            beside[f"{side}rating"] = rating
    return beside | {
        "id": replay.battle,
        "formatid": replay.format,
        "uploadtime": int(replay.day.timestamp()),
        "log": "\n".join(_renamed(line, names) for line in replay.lines),
    }


def _renamed(line: str, names: dict[str, str]) -> str:
    match line.split("|"):
        case ["", "player", seat, name, *rest] if name in names:
            # An avatar may be a player's own.
            return "|".join(["", "player", seat, names[name], "", *rest[1:]])
        case ["", "win", name] if name in names:
            return f"|win|{names[name]}"
        case ["", ("-message" | "message") as kind, *texts]:
            known = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
            return f"|{kind}|{re.sub(known, lambda found: names[found[0]], '|'.join(texts))}"
    return line


def unpack(frame: bytes, key: str) -> Iterator[RawReplay]:
    """Yield the replays of a part. ``key`` names it in errors.

    Raises:
        DataError: it is not a whole part.
    """
    most_bytes = 2 * PART_BYTES
    decompressor = lz4.frame.LZ4FrameDecompressor()
    try:
        text: bytes = decompressor.decompress(frame, max_length=most_bytes)
    except RuntimeError as error:
        raise DataError(f"{key} is no lz4 frame: {error}") from error
    if not decompressor.eof:
        raise DataError(f"{key} ends early, or holds more than {most_bytes:,} bytes")
    for number, line in enumerate(text.splitlines()):
        yield parse(line, f"{key}:{number}")


def pseudonym(name: str) -> str:
    """Return the pseudonym of a player's ``name``, always the same one, so that the player's battles remain connected.

    Showdown's names differ by letters and digits alone, so only these count. It hides names from readers, not from
    someone who guesses names and hashes them.
    """
    if re.fullmatch(rf"{_PSEUDONYM_PREFIX}[0-9a-f]{{{_PSEUDONYM_DIGITS}}}", name):
        return name
    user_id = re.sub(r"[^a-z0-9]", "", name.lower())
    digest = hashlib.sha256(f"nashdex player {user_id}".encode()).hexdigest()
    return _PSEUDONYM_PREFIX + digest[:_PSEUDONYM_DIGITS]
