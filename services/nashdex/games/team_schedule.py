"""The teams of training battles by iteration, as a run stores them."""

from collections.abc import Mapping

from pydantic import Field

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.games.interface import Game
from nashdex.games.team_pool import TeamPool
from nashdex.settings.run import RunSettings
from nashdex.store.checked import read_root
from nashdex.store.protocol import ObjectStore


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


def training_teams(store: ObjectStore, settings: RunSettings, game: Game, iteration: int) -> TeamPool:
    """Return the teams that an iteration's training battles draw from: by the schedule, or else the game's.

    Raises:
        DataError: the stored sets are missing or altered.
    """
    stages = [stage for stage in settings.team_schedule if stage.from_iteration <= iteration]
    if not stages:
        return TeamPool(game.teams())
    source = f"{store.uri}/{keys.TEAM_SETS}"
    return TeamSets.from_json(read_root(store, keys.TEAM_SETS), source).pool(stages[-1].sets)
