"""Which replays of a folder are wanted: by file name first, then by content."""

from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from nashdex.core.errors import ConfigurationError
from nashdex_metamon.data.file_name import ReplayName

Results = Literal["wins", "losses", "both"]


class Counted(Protocol):
    """A seat's decisions, of a single or a double battle."""

    @property
    def num_decisions(self) -> int:
        """All of them."""

    @property
    def num_unnamed(self) -> int:
        """Those whose action is unknown."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Bounds, all inclusive. ``None`` sets no bound. A file without a rating counts as rated 1000."""

    results: Results = "both"
    min_rating: int | None = None
    max_rating: int | None = None
    first_day: date | None = None
    last_day: date | None = None
    min_turns: int | None = None
    """Decisions of the seat. A forced switch is one too."""
    max_turns: int | None = None
    max_unnamed_rate: float | None = None
    """Largest share of decisions whose action is unknown, 0 to 1."""

    def __post_init__(self) -> None:
        for what, low, high in (
            ("rating", self.min_rating, self.max_rating),
            ("day", self.first_day, self.last_day),
            ("number of turns", self.min_turns, self.max_turns),
        ):
            if low is not None and high is not None and low > high:  # type: ignore[operator]
                raise ConfigurationError(f"no {what} is at least {low} and at most {high}; exchange the two")

    def refuses_name(self, name: ReplayName) -> str | None:
        """Return why a file is not wanted by its name, as one word; None if it may be."""
        if self.results != "both" and name.result != ("WIN" if self.results == "wins" else "LOSS"):
            return "result"
        if not _within(name.effective_rating, self.min_rating, self.max_rating):
            return "rating"
        day = name.moment.date()
        if (self.first_day is not None and day < self.first_day) or (self.last_day is not None and day > self.last_day):
            return "date"
        return None

    def refuses_content(self, replay: Counted) -> str | None:
        """Return why a replay is not wanted, as one word; None if it is."""
        if not _within(replay.num_decisions, self.min_turns, self.max_turns):
            return "turns"
        if self.max_unnamed_rate is not None and replay.num_unnamed > self.max_unnamed_rate * replay.num_decisions:
            return "unnamed"
        return None


def _within(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)
