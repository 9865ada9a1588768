"""How payoffs between policies become known: what a game declares, and what payoff documents say of themselves."""

from enum import StrEnum


class Evidence(StrEnum):
    """The kind of payoff evidence that a game gives."""

    COUNTS = "counts"
    """Battles are played and counted: payoffs are estimates with a posterior."""
    EXACT = "exact"
    """Payoffs follow from the game's tree: no battle is played, and they have no error."""

    @property
    def is_played(self) -> bool:
        """Whether battles are played for it."""
        return self is Evidence.COUNTS
