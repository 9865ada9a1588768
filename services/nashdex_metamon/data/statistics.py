"""What a folder of parsed replays contains, counted by format."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.folder import Entry
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import rating_band


@dataclass(slots=True)
class FormatStatistics:
    """Counts of one format."""

    files: int = 0
    """Read, one a seat. Refused ones are not among them."""
    battles: set[str] = field(default_factory=set)
    results: Counter[str] = field(default_factory=Counter)
    rating_bands: Counter[str] = field(default_factory=Counter)
    decisions: int = 0
    unnamed: int = 0
    forced_switches: int = 0
    adapted: Counter[str] = field(default_factory=Counter)
    """Files by what they lacked or had too much of."""
    refused: Counter[str] = field(default_factory=Counter)
    """Files by cause."""

    def add(self, name: ReplayName, replay: ParsedReplay) -> None:
        """Count one file."""
        self.files += 1
        self.battles.add(name.battle)
        self.results[name.result] += 1
        self.rating_bands[rating_band(name.rating)] += 1
        self.decisions += replay.num_decisions
        self.unnamed += replay.num_unnamed
        self.forced_switches += sum(state.forced_switch for state in replay.states[:-1])
        self.adapted.update(replay.adapted.keys())

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "files": self.files,
            "battles": len(self.battles),
            "results": dict(sorted(self.results.items())),
            "ratings": dict(sorted(self.rating_bands.items())),
            "decisions": self.decisions,
            "unnamed": self.unnamed,
            "forced_switches": self.forced_switches,
            "adapted": dict(sorted(self.adapted.items())),
            "refused": dict(sorted(self.refused.items())),
        }


def count(entries: Iterable[Entry]) -> dict[str, FormatStatistics]:
    """Read every entry and count it, by format."""
    found: dict[str, FormatStatistics] = {}
    for entry in entries:
        statistics = found.setdefault(entry.format, FormatStatistics())
        try:
            name, replay = entry.read()
        except RefusedReplayError as refusal:
            statistics.refused[refusal.cause] += 1
        else:
            statistics.add(name, replay)
    return found
