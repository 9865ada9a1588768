"""The section of settings that chooses an opponent rule."""

from typing import Annotated

from nashdex.core.plugins import OneOf
from nashdex.core.section import Choice
from nashdex.metagame.opponents.registry import OPPONENT_RULES

OpponentSettings = Annotated[Choice, OneOf(OPPONENT_RULES, "meta-strategy")]


def default_opponents() -> Choice:
    """Return the section of the rule that a run has by default."""
    section: Choice = OPPONENT_RULES["meta-strategy"].settings()
    return section
