"""From which size on a population is large: all cells of all draws, or all pairs in a report, would be too many."""

from typing import Final

MOST_DRAWN: Final = 257
"""Policies up to which every cell of every draw is drawn."""
MOST_LISTED: Final = 64
"""Policies up to which a report lists every pair of policies. Of a larger population it lists as many rows as this."""


def is_large(num_policies: int) -> bool:
    """Say whether methods are used whose cost does not grow with all cells of all draws."""
    return num_policies > MOST_DRAWN


def lists_all(num_policies: int) -> bool:
    """Say whether the report lists every pair of policies, rather than the rows that matter."""
    return num_policies <= MOST_LISTED
