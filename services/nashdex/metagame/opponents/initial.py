"""The policies that the run began with, uniformly: every run's first iteration, and a baseline that never changes."""

from typing import Literal

from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice
from nashdex.metagame.opponents.interface import OpponentRule, Situation


class InitialSettings(Choice):
    """The scripted policies of `population.initial`, uniformly, in every iteration."""

    kind: Literal["initial"] = "initial"


def mixture(_settings: InitialSettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the members that no iteration trained, uniformly."""
    first = [entry.id for entry in situation.population.policies if entry.iteration is None]
    return dict.fromkeys(first, 1.0 / len(first))


INITIAL = OpponentRule(
    settings=InitialSettings,
    summary="the initial population, uniformly, in every iteration: a baseline",
    words="the initial population",
    mixture=mixture,
)
