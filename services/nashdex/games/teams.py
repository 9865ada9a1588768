"""The teams that battles draw from, how likely each is, and how a run stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.seeds import inverse_cdf, seed_uniform
from nashdex.games.interface import Game
from nashdex.settings.run import TeamStage
from nashdex.store.checked import read_root
from nashdex.store.protocol import ObjectStore


@dataclass(frozen=True)
class TeamPool:
    """Packed teams; without any, the game generates a team from the seed."""

    teams: Sequence[str]
    weights: Sequence[float] = ()
    """Weight of each team, in any scale; empty: all teams are equally likely."""
    names: Sequence[str] = ()
    """Name of each team; empty: its number."""

    def draw(self, seed: int) -> tuple[str, str | None]:
        """Return the name and the text of the team that follows from ``seed``, a 64-bit number."""
        if not self.teams:
            return str(seed), None
        place = self._place(seed) if self.weights else seed % len(self.teams)
        return (self.names[place] if self.names else str(place)), self.teams[place]

    def _place(self, seed: int) -> int:
        return int(inverse_cdf(self._cumulative, np.array([seed_uniform(seed)]))[0])

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.weights)[None, :]


class TeamSets(Document):
    """The teams of every set that a run's ``team_schedule`` names."""

    sets: dict[str, tuple[str, ...]] = Field(description="Packed legal teams by set.")

    def pool(self, weights: Mapping[str, float]) -> TeamPool:
        """Return all teams, each as likely as its set's weight says; sets without one have weight 0.

        The teams and their names are the same whatever the weights are.
        """
        return TeamPool(
            teams=[team for teams in self.sets.values() for team in teams],
            weights=[weights.get(name, 0.0) / len(teams) for name, teams in self.sets.items() for _ in teams],
            names=[f"{name} {number}" for name, teams in self.sets.items() for number in range(1, len(teams) + 1)],
        )


def training_teams(store: ObjectStore, schedule: Sequence[TeamStage], game: Game, iteration: int) -> TeamPool:
    """Return the teams that an iteration's training battles draw from: by the run's schedule, or else the game's.

    Raises:
        DataError: the stored sets are missing or altered.
    """
    stages = [stage for stage in schedule if stage.from_iteration <= iteration]
    if not stages:
        return TeamPool(game.teams())
    source = f"{store.uri}/{keys.TEAM_SETS}"
    return TeamSets.from_json(read_root(store, keys.TEAM_SETS), source).pool(stages[-1].sets)
