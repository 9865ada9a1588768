"""What ``nashdex serve`` keeps of its battles: one JSON line each, logs, replays and trajectories."""

import fcntl
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from pydantic import ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.showdown.replays import replay_page
from nashdex.games.space import Space
from nashdex.metagame.evidence.estimates import clustered_wilson_interval
from nashdex.metagame.ratings.bradley_terry import fit
from nashdex.metagame.ratings.ladder import INITIAL, updated
from nashdex.serve.deciding import DecidedBattle
from nashdex.serve.lines import to_id
from nashdex.serve.room import SCORES, Room, ServedBattle, most_battles
from nashdex.trajectory.shard import encode

_ELO: Final = 400 / math.log(10)
"""Elo of one natural unit of strength."""
_MEAN_OPPONENT: Final = 1500.0
_Z: Final = 1.959964
"""Half-width of a 95 % interval, in standard deviations."""


class Rating(NamedTuple):
    """A Bradley–Terry rating in Elo; the mean of the opponents met is 1500."""

    rating: float
    low: float
    """95 % interval."""
    high: float


class Standing(NamedTuple):
    """The score so far."""

    battles: int
    wins: int
    losses: int
    ties: int
    void: int
    refused: int
    """Choices that the server refused."""
    untracked: int
    """Decisions that the tracker could not follow; the server's default choice answered them."""
    score: float | None
    low: float | None
    high: float | None
    gxe: float | None
    """Glicko's GXE, with every opponent taken for an average one."""
    bradley_terry: float | None
    """Rating over all battles; the mean of the opponents met is 1500."""
    bradley_terry_low: float | None
    bradley_terry_high: float | None
    rating: int | None
    """The server's newest."""
    series: int
    """Finished best-of-three series."""
    series_won: int
    series_lost: int

    def text(self) -> str:
        """Return it as one line."""
        parts = [f"{self.battles} battles: {self.wins} won, {self.losses} lost, {self.ties} tied"]
        if self.void:
            parts.append(f"{self.void} void")
        if self.series:
            parts.append(f"{self.series} series: {self.series_won} won, {self.series_lost} lost")
        parts.append(f"{self.refused} choices refused")
        if self.untracked:
            parts.append(f"{self.untracked} decisions not followed")
        if self.score is not None:
            parts.append(f"score {self.score:.3f} (95 % interval {self.low:.3f} to {self.high:.3f})")
            parts.append(f"GXE {self.gxe:.1f} %")
        if self.bradley_terry is not None:
            interval = f"{self.bradley_terry_low:.0f} to {self.bradley_terry_high:.0f}"
            parts.append(f"Bradley–Terry {self.bradley_terry:.0f} ({interval})")
        if self.rating is not None:
            parts.append(f"server's rating {self.rating}")
        return ", ".join(parts)


def standing_of(battles: Sequence[ServedBattle]) -> Standing:
    """Return the score over ``battles``, in the order in which they ended."""
    results = [battle.result for battle in battles if battle.result is not None]
    scores = [SCORES[result] for result in results]
    low, high = clustered_wilson_interval(scores, list(range(len(scores)))) if scores else (None, None)
    ratings = [battle.rating for battle in battles if battle.rating is not None]
    rated = rating_of(battles) if scores else None
    margins = _series_margins(battles)
    return Standing(
        battles=len(results),
        wins=results.count("win"),
        losses=results.count("loss"),
        ties=results.count("tie"),
        void=len(battles) - len(results),
        refused=sum(battle.refused for battle in battles),
        untracked=sum(battle.untracked for battle in battles),
        score=math.fsum(scores) / len(scores) if scores else None,
        low=low,
        high=high,
        gxe=updated(INITIAL, [(INITIAL, score) for score in scores]).gxe if scores else None,
        bradley_terry=None if rated is None else rated.rating,
        bradley_terry_low=None if rated is None else rated.low,
        bradley_terry_high=None if rated is None else rated.high,
        rating=ratings[-1] if ratings else None,
        series=len(margins),
        series_won=sum(margin > 0 for margin in margins),
        series_lost=sum(margin < 0 for margin in margins),
    )


def rating_of(battles: Sequence[ServedBattle]) -> Rating:
    """Return the rating against the opponents of ``battles``, one of which has a result: penalised likelihood.

    Each opponent has a strength of its own, which these battles alone estimate.
    """
    by_opponent: defaultdict[str, list[float]] = defaultdict(list)
    for battle in battles:
        if battle.result is not None:
            by_opponent[to_id(battle.opponent)].append(SCORES[battle.result])
    met = list(by_opponent.values())
    size = len(met) + 1
    games, scores = np.zeros((size, size)), np.zeros((size, size))
    for place, scored in enumerate(met, start=1):
        games[0, place] = games[place, 0] = len(scored)
        scores[0, place] = math.fsum(scored)
        scores[place, 0] = len(scored) - scores[0, place]
    strengths = fit(scores, games, {})
    contrast = np.full(size, -1 / len(met))
    contrast[0] = 1.0
    gap = float(contrast @ strengths.theta) * _ELO
    width = _Z * math.sqrt(float(contrast @ strengths.covariance @ contrast)) * _ELO
    return Rating(_MEAN_OPPONENT + gap, _MEAN_OPPONENT + gap - width, _MEAN_OPPONENT + gap + width)


def _series_margins(battles: Sequence[ServedBattle]) -> list[float]:
    """Return the wins minus the losses of each series that is decided or has all its battles."""
    by_series: defaultdict[str, list[float]] = defaultdict(list)
    for battle in battles:
        if battle.series is not None and battle.result is not None:
            by_series[battle.series].append(2 * SCORES[battle.result] - 1)
    margins = []
    for series, each in by_series.items():
        most = most_battles(series)
        if len(each) == most or max(each.count(1.0), each.count(-1.0)) > most // 2:
            margins.append(math.fsum(each))
    return margins


BATTLES: Final = "battles.jsonl"
OPEN_ROOMS: Final = "open.json"
_FOLDERS: Final = ("logs", "replays", "trajectories")
_LOCK: Final = "lock"


class Record:
    """The battles of one folder, or of this process alone if there is none. Close it, so that another may go on.

    Raises:
        ConfigurationError: another process writes to the folder.
        DataError: the folder holds something else, or cannot be written.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.battles: list[ServedBattle] = []
        self.open_rooms: list[str] = []
        """Rooms whose battles have begun and are not recorded."""
        self._lock: int | None = None
        if folder is None:
            return
        try:
            for name in _FOLDERS:
                (folder / name).mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.battles = list(_read(folder / BATTLES))
            # The last battle's room is still there if the process was killed between the two files.
            last = [battle.room for battle in self.battles[-1:]]
            self.open_rooms = [room for room in _read_rooms(folder / OPEN_ROOMS) if room not in last]
        except BlockingIOError as error:
            self.close()
            raise ConfigurationError(f"another process writes the record {folder}; name another folder") from error
        except OSError as error:
            self.close()
            raise DataError(f"{folder} cannot hold the record: {error}; name a folder that can be written") from error
        except DataError:
            self.close()
            raise

    def close(self) -> None:
        """Let another process write to the folder. Safe to call twice."""
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None

    def check(self, format_id: str, name: str) -> None:
        """Check that all battles are of a format and of the user ``name``.

        Raises:
            ConfigurationError: one is not.
        """
        for battle in self.battles:
            if (battle.format, to_id(battle.name)) != (format_id, to_id(name)):
                raise ConfigurationError(
                    f"{self._folder} is the record of {battle.name} in {battle.format}, not of {name} in {format_id}; "
                    "name another folder"
                )

    def begin(self, room_id: str) -> None:
        """Note a battle that begins, so that a replacement of this process finds its room again."""
        self.open_rooms.append(room_id)
        self._write_rooms()

    def rename(self, room_id: str, new_id: str) -> None:
        """Note that a battle under way has another room."""
        self.open_rooms = [new_id if room == room_id else room for room in self.open_rooms]
        self._write_rooms()

    def add(self, room: Room, format_id: str, finished: DecidedBattle, void: str | None, space: Space) -> ServedBattle:
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
        # A server that began again gives ids a second time.
        num_before = sum(before.room == room.id for before in self.battles)
        name = f"{room.id}-again{num_before}" if num_before else room.id
        self.battles.append(battle)
        if self._folder is not None:
            log = "\n".join(room.log)
            (self._folder / "logs" / f"{name}.log").write_text(f"{log}\n", "utf-8")
            page = replay_page(log, f"{room.players[0]} against {room.players[1]}", format_id)
            (self._folder / "replays" / f"{name}.html").write_text(page, "utf-8")
            if episode is not None:
                part = self._folder / "trajectories" / f"{name}.safetensors.lz4"
                part.write_bytes(encode([episode], space))
            # Last: a battle whose line exists is complete.
            with (self._folder / BATTLES).open("a", encoding="utf-8") as lines:
                lines.write(battle.model_dump_json() + "\n")
        if room.id in self.open_rooms:
            self.open_rooms.remove(room.id)
            self._write_rooms()
        return battle

    def standing(self) -> Standing:
        """Return the score over the whole record."""
        return standing_of(self.battles)

    def _write_rooms(self) -> None:
        if self._folder is not None:
            written = self._folder / f"{OPEN_ROOMS}.new"
            written.write_text(json.dumps(self.open_rooms), "utf-8")
            written.replace(self._folder / OPEN_ROOMS)


def _read(path: Path) -> Iterator[ServedBattle]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="\n") as lines:  # not by splitlines(): names may hold U+2028
        for number, line in enumerate(lines, start=1):
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
