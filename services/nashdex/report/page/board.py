"""The analysis board as a report holds it: one page for all of its battles."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Board:
    """The board's page in two halves. Between them belongs a battle: its text as JSON without ``<``."""

    before: str
    after: str
    judge: str
    """Name of the policy that judges, for readers."""
