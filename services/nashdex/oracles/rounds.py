"""Who plays the rounds of a training: actors, or the process that trains."""

from nashdex.core.evidence import Evidence
from nashdex.games.space import Space
from nashdex.games.teams import training_teams
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.rounds.players import LocalPlayer, Player
from nashdex.oracles.interface import Task
from nashdex.rollout.sizing import choose_sizes, cores_of_shard


def round_player(task: Task, space: Space, num_battles: int) -> Player:
    """Return what plays the training's rounds, of ``num_battles`` each: actors, or this process.

    Raises:
        DataError: the stored teams are missing or altered.
    """
    run = task.settings
    if run.actors.shards and task.game.evidence is not Evidence.EXACT:  # as oracles.actors says of the run
        return ActorsPlayer(task.store, run.actors, space, iteration=task.plan.iteration, shard=task.shard)
    teams = training_teams(task.store, run.team_schedule, task.game, task.plan.iteration)
    sizes = choose_sizes(run.arena, num_battles, cores_of_shard(run.train.seeds))
    return LocalPlayer(task.store, task.game, sizes, device=run.collect.device, teams=teams)
