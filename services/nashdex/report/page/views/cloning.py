"""How well a clone predicts the held-out decisions of each group of players: its teacher, and people by rating."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nashdex.report.document import Training

_ACCURACY: Final = "validation_accuracy_"
_OTHERS: Final = ("validation_loss_", "validation_decisions_")
_BAND: Final = re.compile(r"replays_(\d+)_(\d+)")
_UNRATED: Final = "replays_unrated"


@dataclass(frozen=True, slots=True)
class ClonedGroup:
    """One group of players."""

    players: str
    accuracy: float
    """Share of their decisions in which the clone's most likely action is theirs."""
    loss: float
    """Cross-entropy, nats a decision."""
    decisions: int
    """Held-out decisions with a choice."""


def is_of_group(value: str) -> bool:
    """Say whether a training's ``value`` is of one group of players; the table shows it."""
    return value.startswith((_ACCURACY, *_OTHERS))


def cloned_groups(training: Training, teacher: str) -> Iterator[ClonedGroup]:
    """Yield the groups that ``training`` was validated on, the teacher first; none without replays."""
    groups = [name.removeprefix(_ACCURACY) for name in training.summary if name.startswith(_ACCURACY)]
    for group in sorted(groups, key=lambda name: (name.startswith("replays_"), name)):
        loss, decisions = (training.summary[f"{prefix}{group}"] for prefix in _OTHERS)
        yield ClonedGroup(_players(group, teacher), training.summary[_ACCURACY + group], loss, round(decisions))


def _players(group: str, teacher: str) -> str:
    if band := _BAND.fullmatch(group):
        return f"players of replays, rating {int(band[1])} to {int(band[2])}"
    return "players of replays without a rating" if group == _UNRATED else teacher
