"""Copies the wanted replays of a folder into another one, and counts those that it leaves out."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from nashdex.core.errors import ConfigurationError
from nashdex.core.stopping import check_stop
from nashdex_metamon.data.doubles import JointEntry
from nashdex_metamon.data.doubles import entries as joint_entries
from nashdex_metamon.data.file_name import without_names
from nashdex_metamon.data.folder import Entry, entries
from nashdex_metamon.data.replay_file import ParsedReplay, write, write_whole
from nashdex_metamon.data.selection import Selection
from nashdex_replays.joint_file import JointReplay
from nashdex_replays.refusal import RefusedReplayError


@dataclass(slots=True)
class Copied:
    """What was done."""

    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Files outside the selection, and files of an already written name, by reason."""
    refused: Counter[str] = field(default_factory=Counter)
    """Files that are not replays, by cause."""
    adapted: Counter[str] = field(default_factory=Counter)
    """Files that were completed or cut, by reason."""


def copy(
    root: Path,
    formats: Sequence[str],
    destination: Path,
    selection: Selection,
    *,
    keep_names: bool = False,
    balance_seed: int | None = None,
) -> Copied:
    """Write every wanted replay, of single and double battles, to ``{destination}/{format}/``.

    With ``balance_seed``, as many wins as losses of each format stay: of the more frequent result, a random sample is
    removed again.

    Raises:
        ConfigurationError: the destination is not a folder or is the folder itself, or the selection keeps one result
            only and has none to balance it with.
        StoppedError: the process was asked to stop. What was written is complete and balanced.
    """
    if balance_seed is not None and selection.results != "both":
        raise ConfigurationError(f"outcomes cannot be balanced among {selection.results} alone; keep both results")
    if destination.exists() and not destination.is_dir():
        raise ConfigurationError(f"{destination} is not a folder; name one, which need not exist")
    if destination.resolve() == root.resolve():
        raise ConfigurationError(f"{destination} is the folder that is read; name another destination")
    copied = Copied()
    written: set[Path] = set()
    paths: dict[tuple[str, str], list[Path]] = {}
    files: Iterator[Entry | JointEntry] = chain(entries(root, formats), joint_entries(root, formats))
    try:
        for entry in files:
            check_stop()
            unwanted = None if entry.name is None else selection.refuses_name(entry.name)
            if unwanted is None:
                try:
                    name, replay = entry.read()
                except RefusedReplayError as refusal:
                    copied.refused[refusal.cause] += 1
                    continue
                shown = name if keep_names else without_names(name)
                path = destination / entry.format / entry.file_name(shown)
                unwanted = "duplicate" if path in written else selection.refuses_content(replay)
                if unwanted is None:
                    _write(path, entry, replay, copied)
                    written.add(path)
                    paths.setdefault((entry.format, name.result), []).append(path)
                    continue
            copied.left_out[unwanted] += 1
    finally:
        if balance_seed is not None:
            for format_id in sorted({format_id for format_id, _ in paths}):
                _balance(paths, format_id, copied, random.Random(balance_seed))
    return copied


def _write(path: Path, entry: Entry | JointEntry, replay: ParsedReplay | JointReplay, copied: Copied) -> None:
    if isinstance(replay, ParsedReplay):
        write(path, replay)
        copied.adapted.update(replay.adapted.keys())
    else:
        write_whole(path, entry.content())
    copied.written += 1


def _balance(
    paths: dict[tuple[str, str], list[Path]], format_id: str, copied: Copied, generator: random.Random
) -> None:
    wins, losses = (sorted(paths.get((format_id, result), [])) for result in ("WIN", "LOSS"))
    more, fewer = (wins, losses) if len(wins) > len(losses) else (losses, wins)
    for path in generator.sample(more, len(more) - len(fewer)):
        path.unlink()
        copied.written -= 1
        copied.left_out["balance"] += 1
