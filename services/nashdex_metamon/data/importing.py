"""Raw Showdown replays as trajectories of both players, in metamon's layout."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.core.stopping import check_stop
from nashdex.games.registry import FORMATS
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.names import DOUBLES
from nashdex_metamon.data.file_name import ReplayName, without_names
from nashdex_metamon.data.parsing import parsed
from nashdex_metamon.data.replay_file import write, write_whole
from nashdex_replays import joint_file
from nashdex_replays.doubles.reconstruction import joint_views
from nashdex_replays.following import Follower
from nashdex_replays.reconstruction import views
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay
from nashdex_replays.sources import sources

_BLOCK: Final = 16
"""Battles that are followed side by side."""
_SEATS: Final = (0, 1)
_MAX_NAME_BYTES: Final = 54
"""Bytes of a player's name in a file's name: 18 characters, Showdown's most. Both names fit into 255 bytes."""


@dataclass(slots=True)
class Imported:
    """What was done, in battles unless it says otherwise."""

    read: int = 0
    files: int = 0
    """Trajectories written, one a seat."""
    decisions: int = 0
    unnamed: int = 0
    """Decisions whose action the log does not show."""
    slots: int = 0
    """Number of slots with a choice, in double battles."""
    unknown_slots: Counter[str] = field(default_factory=Counter)
    """Those whose choice is unknown, by cause."""
    present: int = 0
    """Battles whose files were there already."""
    left_out: int = 0
    """Battles of other formats."""
    refused: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    """Imported battles by how they ended: played, forfeit, timeout."""


def import_logs(
    root: Path,
    destination: Path,
    formats: Sequence[str] = (),
    *,
    keep_names: bool = False,
    use_inputs: bool = True,
    report: Callable[[int], None] = lambda _read: None,
) -> Imported:
    """Write both players' trajectories of every raw replay below ``root`` to ``{destination}/{format}/``.

    Double battles have files of their own (``nashdex_replays.joint_file``); ``use_inputs`` as in ``joint_views``.

    Existing files are kept, so an interrupted import continues where it was. ``report`` is called with
    the number of replays read so far.

    Raises:
        ConfigurationError: ``root`` does not exist, the destination is not a folder, or a format is unknown.
        TryAgainError: the gateway is gone.
        StoppedError: the process was asked to stop. What was written is complete.
    """
    if destination.exists() and not destination.is_dir():
        raise ConfigurationError(f"{destination} is not a folder; name one, which need not exist")
    for format_id in formats:
        if FORMATS[format_id].game != SHOWDOWN:
            raise ConfigurationError(f"{format_id} is not a Showdown format; expected one such as gen1ou")
    with ExitStack() as stack:
        importer = Importer(destination, formats, stack, keep_names=keep_names, use_inputs=use_inputs)
        for source in sources(root):
            check_stop()
            importer.counts.read += 1
            report(importer.counts.read)
            try:
                importer.add(source.read())
            except RefusedReplayError as refusal:
                importer.counts.refused[refusal.cause] += 1
        importer.finish()
    return importer.counts


class Importer:
    """Collects replays by format, and writes a block of them at once.

    Args:
        destination: the folder; files go to ``{destination}/{format}``.
        formats: others are left out; none: all are wanted.
        stack: closes the gateways.
        keep_names: keep the players' names, not pseudonyms.
        use_inputs: read double battles' choices from the input beside a log, if there is one.
    """

    def __init__(
        self,
        destination: Path,
        formats: Sequence[str],
        stack: ExitStack,
        *,
        keep_names: bool,
        use_inputs: bool = True,
    ) -> None:
        self.counts = Imported()
        self._destination = destination
        self._formats = formats
        self._stack = stack
        self._keep_names = keep_names
        self._use_inputs = use_inputs
        self._blocks: dict[str, list[RawReplay]] = {}
        self._followers: dict[str, Follower] = {}
        self._gateways: dict[str, Gateway] = {}

    def add(self, replay: RawReplay) -> None:
        """Take in a replay, and write a block of its format if that is full."""
        if self._formats and replay.format not in self._formats:
            self.counts.left_out += 1
        elif replay.format not in FORMATS or FORMATS[replay.format].game != SHOWDOWN:
            self.counts.refused["format"] += 1
        elif all(self._path(replay, seat).exists() for seat in _SEATS):
            self.counts.present += 1
        else:
            block = self._blocks.setdefault(replay.format, [])
            block.append(replay)
            if len(block) == _BLOCK:
                self._flush(replay.format)

    def finish(self) -> None:
        """Write what is left."""
        for format_id in sorted(self._blocks):
            self._flush(format_id)

    def _flush(self, format_id: str) -> None:
        check_stop()  # also for those who add battles themselves
        if format_id in DOUBLES:
            self._flush_doubles(format_id)
            return
        if format_id not in self._followers:
            self._followers[format_id] = self._stack.enter_context(Follower(format_id))
        follower, counts = self._followers[format_id], self.counts
        pairs, refused = views(self._blocks.pop(format_id), follower)
        counts.refused.update(refused)
        for pair in pairs:
            counts.ends[pair[0].replay.end] += 1
            for view in pair:
                trajectory = parsed(view, follower)
                if trajectory is not None:
                    write(self._path(view.replay, view.seat), trajectory)
                    counts.files += 1
                    counts.decisions += trajectory.num_decisions
                    counts.unnamed += trajectory.num_unnamed

    def _flush_doubles(self, format_id: str) -> None:
        if format_id not in self._gateways:
            self._gateways[format_id] = self._stack.enter_context(closing(Gateway(format_id)))
        gateway, counts = self._gateways[format_id], self.counts
        pairs, refused = joint_views(self._blocks.pop(format_id), gateway, use_inputs=self._use_inputs)
        counts.refused.update(refused)
        for pair in pairs:
            counts.ends[pair[0].replay.end] += 1
            for view in pair:
                episode, replay = joint_file.episode_of(view, gateway.space), joint_file.JointReplay.of(view)
                write_whole(self._path(view.replay, view.seat), joint_file.write(episode, replay, gateway.space))
                counts.files += 1
                counts.decisions += len(replay.decisions)
                asked = [slot for decision in replay.decisions for slot in decision.slots if slot.asked]
                counts.slots += len(asked)
                counts.unknown_slots.update(slot.cause for slot in asked if slot.cause)
                counts.unnamed += replay.num_unnamed

    def _path(self, replay: RawReplay, seat: int) -> Path:
        name = ReplayName(
            battle=replay.battle,
            rating=replay.ratings[seat],
            player=_in_file_name(replay.players[seat]),
            opponent=_in_file_name(replay.players[1 - seat]),
            date=f"{replay.day:%m-%d}-{replay.day.year:04d}",
            result=replay.result(seat),
        )
        shown = name if self._keep_names else without_names(name)
        file_name = f"{shown.stem}{joint_file.SUFFIX}" if replay.num_active > 1 else shown.file_name
        return self._destination / replay.format / file_name


def _in_file_name(player: str) -> str:
    """Return a name without what a file name cannot have."""
    name = "".join(c for c in player if c.isalnum() or c in "-_.")
    return name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore") or "player"
