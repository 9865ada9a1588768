"""Copies the wanted replays of a folder into another one, and counts those that it leaves out."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.logs.refusal import RefusedReplayError
from nashdex_metamon.data.file_name import ReplayName, without_names
from nashdex_metamon.data.folder import entries
from nashdex_metamon.data.replay_file import write
from nashdex_metamon.data.selection import Selection


@dataclass(slots=True)
class Copied:
    """What was done."""

    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Files that the selection does not want, and those of a name that was written already, by reason."""
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
    """Write every wanted replay to ``{destination}/{format}/``.

    With ``balance_seed``, as many wins as losses of each format stay: of the more frequent result, a random sample is
    removed again.

    Raises:
        ConfigurationError: the destination is not a folder or is the folder itself, or the selection keeps one result
            only and has none to balance it with.
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
    for entry in entries(root, formats):
        unwanted = None if entry.name is None else selection.refuses_name(entry.name)
        if unwanted is None:
            try:
                name, replay = entry.read()
            except RefusedReplayError as refusal:
                copied.refused[refusal.cause] += 1
                continue
            path = _path(destination, entry.format, name if keep_names else without_names(name))
            unwanted = "duplicate" if path in written else selection.refuses_content(replay)
            if unwanted is None:
                write(path, replay)
                written.add(path)
                paths.setdefault((entry.format, name.result), []).append(path)
                copied.written += 1
                copied.adapted.update(replay.adapted.keys())
                continue
        copied.left_out[unwanted] += 1
    if balance_seed is not None:
        for format_id in sorted({format_id for format_id, _ in paths}):
            _balance(paths, format_id, copied, random.Random(balance_seed))
    return copied


def _path(destination: Path, format_id: str, name: ReplayName) -> Path:
    return destination / format_id / name.file_name


def _balance(
    paths: dict[tuple[str, str], list[Path]], format_id: str, copied: Copied, generator: random.Random
) -> None:
    wins, losses = (sorted(paths.get((format_id, result), [])) for result in ("WIN", "LOSS"))
    more, fewer = (wins, losses) if len(wins) > len(losses) else (losses, wins)
    for path in generator.sample(more, len(more) - len(fewer)):
        path.unlink()
        copied.written -= 1
        copied.left_out["balance"] += 1
