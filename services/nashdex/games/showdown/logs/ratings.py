"""Players' ratings in bands."""

from typing import Final

UNRATED_RATING: Final = 1000
"""The rating by which a player without one is chosen."""
RATING_BAND: Final = 200
"""Width of the bands that ratings are counted by, in Elo points."""


def rating_band(rating: int | None) -> str:
    """Return the band of ``rating``, such as ``1200-1399``."""
    if rating is None:
        return "unrated"
    low = rating - rating % RATING_BAND
    return f"{low:04d}-{low + RATING_BAND - 1:04d}"
