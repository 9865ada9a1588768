"""Series of battles between the same two players: best of three, which the server runs in a room of its own."""

from re import compile as pattern
from typing import Final

_SERIES: Final = pattern(r'href="/(game-bestof[0-9]+-[a-z0-9-]+)"')
_NUM_BATTLES: Final = pattern(r"^game-bestof([0-9]+)-")


def series_of(line: str) -> str | None:
    """Return the series that a battle's line says it is part of."""
    if not line.startswith("|uhtml|bestof|"):
        return None
    found = _SERIES.search(line)
    return None if found is None else found[1]


def asks_if_ready(line: str) -> bool:
    """Say whether a line of a series' room asks if its next battle may begin, and has no answer yet."""
    return "/confirmready" in line and "disabled" not in line


def most_battles(series: str) -> int:
    """Return the most battles that a series has, such as 3 of ``game-bestof3-gen9ou-12``."""
    found = _NUM_BATTLES.match(series)
    return int(found[1]) if found else 1


class OpenSeries:
    """The series under way. A client stays in their rooms until they end."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def __len__(self) -> int:
        return len(self._open)

    def read(self, room_id: str, lines: tuple[str, ...]) -> list[str]:
        """Read a message of a series' room and return the commands to answer it with.

        A series begins with its room, and ends with a result or the end of the room.
        """
        commands = []
        for line in lines:
            if line.startswith("|init|"):
                self._open.add(room_id)
            elif asks_if_ready(line):
                commands.append("/confirmready")
            elif line.startswith(("|win|", "|tie", "|deinit", "|noinit|")) and room_id in self._open:
                self._open.remove(room_id)
                if not line.startswith(("|deinit", "|noinit|")):
                    commands.append("/leave")
        return commands

    def is_open(self, series: str | None) -> bool:
        """Say whether more battles of a series may follow."""
        return series in self._open
