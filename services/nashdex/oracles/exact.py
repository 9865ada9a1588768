"""The exact best response, by backward induction through the game's tree."""

from typing import Literal

from nashdex.core.section import Choice
from nashdex.oracles.interface import Oracle, Task, Trained


class ExactSettings(Choice):
    """The exact best response, in games whose tree is known. It has no settings."""

    kind: Literal["exact"] = "exact"


def train(task: Task, _settings: ExactSettings) -> Trained:
    """Return the exact best response to the plan's opponents."""
    opponents = task.opponents_in_tree()
    table, value = opponents.best_response()
    return Trained(policy=table, summary={"value": opponents.payoff(table), "best_response_value": value})


EXACT = Oracle(
    settings=ExactSettings,
    summary="the exact best response, by backward induction through the tree",
    train=train,
    makes="table",
    plays=None,
    needs_tree=True,
    is_random=False,
    metrics={
        "value": "payoff of the policy against the opponents, a game",
        "best_response_value": "payoff of the exact best response against the same opponents",
    },
)
