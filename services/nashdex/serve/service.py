"""What a client does on a server: which battles it wants and how it finds them."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from nashdex.serve.lines import to_id

_BEST_OF_THREE: Final = "bo3"
"""End of the id of a server's format that is played as best of three."""


@dataclass(frozen=True)
class Service:
    """What a client does."""

    format_id: str
    searches: bool = False
    """Search for battles on the ladder. Otherwise wait for challenges, or challenge ``opponent``."""
    opponent: str | None = None
    """The user to challenge."""
    battles: int | None = None
    """Stop after these many in the record; None: go on until stopped."""
    counts_void: bool = True
    """Whether void battles are among ``battles``."""
    at_once: int = 1
    best_of: Literal[1, 3] = 1
    """3: play series with the same teams until one side has won two. ``at_once`` then counts series."""
    users: frozenset[str] = frozenset()
    """Users whose challenges are accepted; empty: anyone's."""
    timer: bool = False
    """Start the server's timer in every battle."""
    open_sheets: bool = False
    """Accept Open Team Sheets when the server asks."""
    stop_file: Path | None = None
    """Stop, as on SIGTERM, once this file exists."""
    patience_seconds: float = 60.0
    """Longest wait for the user to challenge to be there."""
    renew_seconds: float = math.inf
    """Challenge again if the user does not answer for this long: it may have missed the challenge."""
    pause_seconds: float = 0.0
    """Time between a battle's end and the next search or challenge."""
    action_url: str = "https://play.pokemonshowdown.com/action.php"
    seed: int = 0

    @property
    def series_format(self) -> str:
        """The id of the server's own format for best of three."""
        return f"{self.format_id}{_BEST_OF_THREE}"

    def format_on(self, offered: frozenset[str]) -> str:
        """Return the format to ask the server for, given the formats that it offers."""
        if self.best_of == 1:
            return self.format_id
        return self.series_format if self.series_format in offered else f"{self.format_id}@@@Best of = 3"

    def accepts(self, challenge: str) -> bool:
        """Say whether a challenge's format is the wanted one, with the wanted number of battles."""
        name, _, rules = challenge.partition("@@@")
        if self.best_of == 1:
            return to_id(name) == self.format_id and not rules
        by_rule = to_id(name) == self.format_id and [to_id(rule) for rule in rules.split(",")] == ["bestof3"]
        return by_rule or (to_id(name) == self.series_format and not rules)

    def plays_in(self, room_id: str) -> bool:
        """Say whether a room's battle or series is of the wanted format."""
        formats = (self.format_id, self.series_format)
        kinds = ("battle", f"game-bestof{self.best_of}")
        return room_id.startswith(tuple(f"{kind}-{name}-" for kind in kinds for name in formats))
