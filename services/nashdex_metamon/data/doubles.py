"""Folders of people's double battles, ``{root}/{format}/*.joint.lz4``: what they contain, and how two readings differ.

A slot is one of the two Pokémon that a decision chooses for. Slots that can only pass are not counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nashdex.core.errors import ConfigurationError, DataError
from nashdex_metamon.data.file_name import ReplayName
from nashdex_replays.joint_file import MAX_FILE_BYTES, SUFFIX, DecisionRecord, JointReplay, read
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import rating_band


@dataclass(slots=True)
class JointFolder:
    """The readable files of a folder, and the number of the others by cause."""

    replays: list[JointReplay] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class JointEntry:
    """One file of a folder."""

    path: Path
    name: ReplayName | None
    """None if the file's name says nothing."""

    @property
    def format(self) -> str:
        """The folder's name."""
        return self.path.parent.name

    def file_name(self, name: ReplayName) -> str:
        """Return the name of a copy."""
        return f"{name.stem}{SUFFIX}"

    def content(self) -> bytes:
        """Return the file's bytes."""
        return self.path.read_bytes()

    def read(self) -> tuple[ReplayName, JointReplay]:
        """Return the battle.

        Raises:
            RefusedReplayError: the name or the content says nothing, or the content is of another format.
        """
        if self.name is None:
            raise RefusedReplayError("file-name", f"{self.path}: expected a name as `nashdex data import` gives it")
        if self.path.stat().st_size > MAX_FILE_BYTES:
            raise RefusedReplayError("too-large", f"{self.path} has more than {MAX_FILE_BYTES:,} bytes")
        try:
            space, _, replay = read(self.content(), str(self.path))
        except DataError as error:
            raise RefusedReplayError("unreadable", str(error)) from error
        if not self.format == replay.format == space.format:
            raise RefusedReplayError("format", f"{self.path} is a battle of {replay.format}")
        return self.name, replay


def entries(root: Path, formats: Sequence[str] = ()) -> Iterator[JointEntry]:
    """Yield the files of a folder, by format and name; only files of ``formats`` if any is given.

    Raises:
        ConfigurationError: there is no such folder.
    """
    if not root.is_dir():
        raise ConfigurationError(f"{root} is not a folder; expected one with a folder of replays for each format")
    for path in sorted(root.glob(f"*/*{SUFFIX}")):
        if not formats or path.parent.name in formats:
            yield JointEntry(path, ReplayName.parse(path.name, (SUFFIX,)))


def read_folder(root: Path, formats: Sequence[str] = ()) -> JointFolder:
    """Return the double battles of a folder.

    Raises:
        ConfigurationError: there is no such folder.
    """
    found = JointFolder()
    for entry in entries(root, formats):
        try:
            _, replay = entry.read()
        except RefusedReplayError as refusal:
            found.refused[refusal.cause] += 1
        else:
            found.replays.append(replay)
    return found


@dataclass(slots=True)
class JointStatistics:
    """Counts of one format."""

    files: int = 0
    battles: set[str] = field(default_factory=set)
    ratings: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    """Files by where the choices are from: the players' input, or lines."""
    decisions: int = 0
    slots: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    """Slots whose choice is unknown, by cause."""

    @property
    def named(self) -> int:
        """Slots whose choice is known."""
        return self.slots - self.unknown.total()

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "files": self.files,
            "battles": len(self.battles),
            "ratings": dict(sorted(self.ratings.items())),
            "sources": dict(sorted(self.sources.items())),
            "decisions": self.decisions,
            "slots": self.slots,
            "named": self.named,
            "unknown": dict(sorted(self.unknown.items())),
        }


def count(folder: JointFolder) -> dict[str, JointStatistics]:
    """Count a folder's battles by format."""
    found: dict[str, JointStatistics] = {}
    for replay in folder.replays:
        counts = found.setdefault(replay.format, JointStatistics())
        counts.files += 1
        counts.battles.add(replay.battle)
        counts.ratings[rating_band(replay.rating)] += 1
        counts.sources[replay.source] += 1
        counts.decisions += len(replay.decisions)
        asked = [slot for decision in replay.decisions for slot in decision.slots if slot.asked]
        counts.slots += len(asked)
        counts.unknown.update(slot.cause for slot in asked if slot.action is None)
    return found


@dataclass(slots=True)
class JointGap:
    """How a reading of battles differs from another one of the same battles, such as one whose choices are known."""

    files: int = 0
    """Views that both folders have."""
    other_lengths: int = 0
    """Views with another number of decisions. Their slots are not compared."""
    decisions: int = 0
    slots: int = 0
    """Slots that the second reading names."""
    equal: int = 0
    """Slots that both readings name alike."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Slots that the first reading does not name, by cause."""
    different: list[str] = field(default_factory=list)
    """Slots that the readings name differently: where, and both choices."""

    @property
    def named(self) -> int:
        """Slots that both readings name."""
        return self.equal + len(self.different)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "files": self.files,
            "other_lengths": self.other_lengths,
            "decisions": self.decisions,
            "slots": self.slots,
            "named": self.named,
            "equal": self.equal,
            "different": self.different,
            "unknown": dict(sorted(self.unknown.items())),
        }


def compare(first: JointFolder, second: JointFolder) -> JointGap:
    """Compare the views that both folders have, slot by slot."""
    found = JointGap()
    others = {(replay.battle, replay.seat): replay for replay in second.replays}
    for replay in first.replays:
        other = others.get((replay.battle, replay.seat))
        if other is None:
            continue
        found.files += 1
        if len(replay.decisions) != len(other.decisions):
            found.other_lengths += 1
            continue
        for decision, expected in zip(replay.decisions, other.decisions, strict=True):
            found.decisions += 1
            for ours, theirs, cause in _pairs(decision, expected):
                found.slots += 1
                if not ours:
                    found.unknown[cause] += 1
                elif ours == theirs:
                    found.equal += 1
                else:
                    where = f"{replay.battle} p{replay.seat + 1} turn {decision.turn}"
                    found.different.append(f"{where}: {ours}, {theirs}")
    return found


def _pairs(decision: DecisionRecord, expected: DecisionRecord) -> Iterator[tuple[str, str, str]]:
    """Yield both choices of each slot that ``expected`` names, and why the first is unknown."""
    if expected.asks == "bench":  # the order of those that wait has no effect
        ours, theirs = ([slot.choice for slot in each.slots if slot.choice] for each in (decision, expected))
        same = [choice for choice in theirs if choice in ours]
        rest = [choice for choice in ours if choice not in theirs]
        missing = [choice for choice in theirs if choice not in ours]
        cause = next((slot.cause for slot in decision.slots if slot.cause), "")
        yield from ((choice, choice, "") for choice in same)
        for number, choice in enumerate(missing):
            yield (rest[number] if number < len(rest) else "", choice, cause)
        return
    for slot, other in zip(decision.slots, expected.slots, strict=True):
        if other.asked and other.choice:
            yield slot.choice, other.choice, slot.cause
