"""The learner itself."""

from typing import Literal

from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice
from nashdex.metagame.opponents.interface import OpponentRule, Situation


class SelfPlaySettings(Choice):
    """The learner meets only its newest self."""

    kind: Literal["self-play"] = "self-play"


def mixture(_settings: SelfPlaySettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the learner alone."""
    return {situation.learner: 1.0}


SELF_PLAY = OpponentRule(
    settings=SelfPlaySettings,
    summary="the learner's newest self",
    words="itself",
    mixture=mixture,
    meets_itself=True,
    needs_newest=True,
)
