"""The exact best response, by backward induction through the game's tree."""

from nashdex.oracles.interface import Task, Trained
from nashdex.settings.oracles import ExactSettings


def train(task: Task, _settings: ExactSettings) -> Trained:
    """Return the exact best response to the plan's opponents."""
    opponents = task.opponents_in_tree()
    table, value = opponents.best_response()
    return Trained(policy=table, summary={"value": opponents.payoff(table), "best_response_value": value})
