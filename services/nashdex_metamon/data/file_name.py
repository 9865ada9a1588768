"""Names of parsed replays: ``{battle}_{rating}_{player}_vs_{opponent}_{date}_{result}.json.lz4``, one file a seat.

Double battles have the ending ``.joint.lz4``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nashdex_replays.packing import pseudonym
from nashdex_replays.replay import UNRATED_RATING, Result

UNRATED = "Unrated"
SUFFIXES = (".json.lz4", ".json")
_DAY = "%m-%d-%Y"
_MOMENT = "%m-%d-%Y-%H:%M:%S"
# Player names may contain underscores, battle ids and dates do not.
_STEM = re.compile(
    r"(?P<battle>[^_/]+)_(?P<rating>Unrated|[0-9]{1,5})_(?P<player>[^/]*)_vs_(?P<opponent>[^/]*)"
    r"_(?P<date>[0-9]{2}-[0-9]{2}-[0-9]{4}(?:-[0-9]{2}:[0-9]{2}:[0-9]{2})?)_(?P<result>WIN|LOSS|TIE)"
)


@dataclass(frozen=True, slots=True)
class ReplayName:
    """The facts in a file's name."""

    battle: str
    """Showdown's id of the battle, such as ``gen1ou-2333334844``: both seats of a battle share it."""
    rating: int | None
    player: str
    opponent: str
    date: str
    """Date as written in the name: ``MM-DD-YYYY``, in newer files with ``-HH:MM:SS``."""
    result: Result

    @classmethod
    def parse(cls, file_name: str, suffixes: Sequence[str] = SUFFIXES) -> "ReplayName | None":
        """Return the facts in ``file_name``, or None if it is not the name of a parsed replay."""
        for suffix in suffixes:
            if file_name.endswith(suffix):
                found = _STEM.fullmatch(file_name.removesuffix(suffix))
                break
        else:
            return None
        if found is None or _moment(found["date"]) is None:
            return None
        rating = None if found["rating"] == UNRATED else int(found["rating"])
        result: Result = "WIN" if found["result"] == "WIN" else "LOSS" if found["result"] == "LOSS" else "TIE"
        return cls(found["battle"], rating, found["player"], found["opponent"], found["date"], result)

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        rating = UNRATED if self.rating is None else str(self.rating)
        names = f"{self.player}_vs_{self.opponent}"
        return f"{self.battle}_{rating}_{names}_{self.date}_{self.result}"

    @property
    def file_name(self) -> str:
        """The name of the compressed file."""
        return self.stem + SUFFIXES[0]

    @property
    def effective_rating(self) -> int:
        """The rating, or ``UNRATED_RATING`` without one."""
        return UNRATED_RATING if self.rating is None else self.rating

    @property
    def moment(self) -> datetime:
        """The date, at midnight if it has no time. Showdown's dates have no time zone."""
        moment = _moment(self.date)
        assert moment is not None, "a parsed name has a valid date"
        return moment


def _moment(date: str) -> datetime | None:
    try:
        return datetime.strptime(date, _MOMENT if ":" in date else _DAY)  # noqa: DTZ007 - the files have no time zone
    except ValueError:
        return None


def without_names(name: ReplayName) -> ReplayName:
    """Return ``name`` with both players' pseudonyms."""
    return replace(name, player=pseudonym(name.player), opponent=pseudonym(name.opponent))
