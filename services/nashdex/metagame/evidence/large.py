"""From which size on a population is large: where one draw after another of all its cells would take too long."""

from typing import Final

MOST_DRAWN: Final = 257
"""Policies up to which every cell of every draw is drawn, and every pair of policies is in every document."""


def is_large(num_policies: int) -> bool:
    """Say whether methods are used whose cost does not grow with all cells of all draws."""
    return num_policies > MOST_DRAWN
