"""What ``nashdex serve`` keeps of its battles: one JSON line each, logs, replays and trajectories."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import DataError
from nashdex.games.showdown.replays import replay_page
from nashdex.games.space import Space
from nashdex.serve.deciding import Finished
from nashdex.serve.room import Room
from nashdex.serve.served import ServedBattle
from nashdex.serve.standing import Standing, standing_of
from nashdex.trajectory.shard import encode

BATTLES: Final = "battles.jsonl"
OPEN_ROOMS: Final = "open.json"
_FOLDERS: Final = ("logs", "replays", "trajectories")


class Record:
    """The battles of one folder, or of this process alone if there is none.

    Raises:
        DataError: the folder holds something else, or cannot be written.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.battles: list[ServedBattle] = []
        self._open: list[str] = []
        if folder is None:
            return
        try:
            for name in _FOLDERS:
                (folder / name).mkdir(parents=True, exist_ok=True)
            self.battles = list(_read(folder / BATTLES))
            self._open = [room for room in _read_rooms(folder / OPEN_ROOMS) if room not in self.rooms()]
        except OSError as error:
            raise DataError(f"{folder} cannot hold the record: {error}; name a folder that can be written") from error

    def rooms(self) -> set[str]:
        """Return the ids of the rooms that are recorded."""
        return {battle.room for battle in self.battles}

    def open_rooms(self) -> tuple[str, ...]:
        """Return the rooms whose battles have begun and are not recorded."""
        return tuple(self._open)

    def begin(self, room_id: str) -> None:
        """Note a battle that begins, so that a replacement of this process finds its room again."""
        self._open.append(room_id)
        self._write_rooms()

    def add(self, room: Room, format_id: str, finished: Finished, void: str | None, space: Space) -> ServedBattle:
        """Record a battle that is over."""
        episode = None if void else finished.episode
        battle = ServedBattle(
            room=room.id,
            format=format_id,
            policy=finished.policy,
            name=room.name,
            opponent=room.opponent,
            seat=None if room.seat is None else (0 if room.seat == 0 else 1),
            result=None if void else room.result,
            void=void,
            series=room.series,
            turns=room.turns,
            decisions=room.num_decisions,
            refused=room.num_refused,
            untracked=room.num_untracked,
            trajectory=episode is not None,
            rating=room.rating,
        )
        self.battles.append(battle)
        if self._folder is not None:
            log = "\n".join(room.log)
            (self._folder / "logs" / f"{room.id}.log").write_text(f"{log}\n", "utf-8")
            page = replay_page(log, f"{room.players[0]} against {room.players[1]}", format_id)
            (self._folder / "replays" / f"{room.id}.html").write_text(page, "utf-8")
            if episode is not None:
                part = self._folder / "trajectories" / f"{room.id}.safetensors.lz4"
                part.write_bytes(encode([episode], space))
            # Last: a battle whose line exists is complete.
            with (self._folder / BATTLES).open("a", encoding="utf-8") as lines:
                lines.write(battle.model_dump_json() + "\n")
        if room.id in self._open:
            self._open.remove(room.id)
            self._write_rooms()
        return battle

    def standing(self) -> Standing:
        """Return the score over the whole record."""
        return standing_of(self.battles)

    def _write_rooms(self) -> None:
        if self._folder is not None:
            written = self._folder / f"{OPEN_ROOMS}.new"
            written.write_text(json.dumps(self._open), "utf-8")
            written.replace(self._folder / OPEN_ROOMS)


def _read(path: Path) -> Iterator[ServedBattle]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            yield ServedBattle.model_validate(json.loads(line))
        except ValidationError as error:
            raise DataError(f"{path}, line {number}: {describe_problems(error)}") from error
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {number} is not JSON ({error}); remove the line") from error


def _read_rooms(path: Path) -> list[str]:
    if not path.exists():
        return []
    try:
        rooms = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error}); remove the file") from error
    if not isinstance(rooms, list) or not all(isinstance(room, str) for room in rooms):
        raise DataError(f"{path} holds no list of rooms; remove the file")
    return rooms
