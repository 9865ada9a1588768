"""What a player sees of the omniscient log."""

import math
import re
from collections.abc import Sequence

_CONDITION = re.compile(r"(?<!\d)(\d{1,9})/([1-9]\d{0,8})(?= |$)")
_FULL_PERCENT = 100


def seen_by(seat: int, lines: Sequence[str]) -> list[str]:
    """Return lines of the omniscient log as ``seat`` sees them: the opponent's HP in percent, rounded up."""
    opponent = f"|p{2 - seat}"
    return [_in_percent(line) if opponent in line else line for line in lines]


def _in_percent(line: str) -> str:
    def percent(match: re.Match[str]) -> str:
        hp, most = int(match[1]), int(match[2])
        share = math.ceil(_FULL_PERCENT * hp / most)
        return f"{_FULL_PERCENT - 1 if share == _FULL_PERCENT and hp < most else share}/{_FULL_PERCENT}"

    return _CONDITION.sub(percent, line)
