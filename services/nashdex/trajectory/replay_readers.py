"""Readers of people's battles. A package adds one under the entry point group ``nashdex.replay_readers``."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Registry
from nashdex.games.registry import FORMATS
from nashdex.games.showdown.formats import GAME
from nashdex.settings.oracles import ReplaySettings
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode


class Replays(Protocol):
    """A shard's part of the raw replays that are stored with a run."""

    counts: Counter[str]
    """Numbers for the manifest of the collect step, by name, as far as episodes have been read."""

    def __len__(self) -> int:
        """Return the number of replays, by which progress is counted."""
        ...

    def episodes(self, progress: Progress) -> Iterator[Episode]:
        """Yield the episodes of the wanted players, always in the same order.

        Raises:
            DataError: something stored is missing or altered.
            TryAgainError: a process that reads them is gone.
            StoppedError: the process was asked to stop.
        """
        ...


@dataclass(frozen=True)
class ReplayReader:
    """How the raw replays of one game are stored with a run, and read. Its entry point has the name of the game."""

    pack: Callable[[ReplaySettings, str], dict[str, bytes]]
    """Returns the objects to store with a run of a format, by key: ``core.keys.REPLAYS`` and its parts. Raises
    ConfigurationError if there is no such file or folder, DataError if no replay is wanted or they are too many."""
    open: Callable[[ObjectStore, ReplaySettings, int, int], Replays]
    """Opens a shard's part of them: the store, the settings, the number of shards, the shard. Raises DataError if they
    are missing or altered."""


REPLAY_READERS: Final = Registry("nashdex.replay_readers", "reader of replays", ReplayReader, {})
"""By ``Format.game``, such as ``showdown``."""


def reader_problem(format_id: str) -> str | None:
    """Return why the replays of a format cannot be read here, None if they can."""
    game = FORMATS[format_id].game
    if game in REPLAY_READERS:
        return None
    if game != GAME:
        return f"train.first.replays are Showdown's, and {format_id} is another game: leave them out"
    return (
        "train.first.replays: nothing here reads replays. The package nashdex_replays, a part of nashdex, reads "
        "Showdown's: install nashdex again, or leave them out"
    )


def reader_of(format_id: str) -> ReplayReader:
    """Return the reader of the replays of a format.

    Raises:
        ConfigurationError: no installed package provides one.
    """
    if (problem := reader_problem(format_id)) is not None:
        raise ConfigurationError(problem)
    return REPLAY_READERS[FORMATS[format_id].game]
