"""No learning: a network with random weights, for trainings that start from nothing instead of a teacher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from nashdex.core.lazy import LazyModule
from nashdex.core.section import Choice
from nashdex.oracles.interface import Oracle, Task, Trained

if TYPE_CHECKING:
    from nashdex.learning import initial
    from nashdex.learning.experience import data
    from nashdex.policies.networks.actor_critic import ActorCritic
else:  # imported when a network is made
    data = LazyModule("nashdex.learning.experience.data")
    initial = LazyModule("nashdex.learning.initial")


class FreshSettings(Choice):
    """A network with random weights. It has no settings."""

    kind: Literal["fresh"] = "fresh"


def fresh_network(task: Task) -> ActorCritic:
    """Return a network with random weights that follow from the task's seed, or with those of ``network.init_from``.

    Its space is that of the collected battles: a trainer on a cluster has no simulator to ask.

    Raises:
        ConfigurationError: this kind of network cannot play the run's game.
        DataError: the first collect shard is missing or altered.
    """
    space = data.collected_space(task.store, task.plan)
    return initial.first_network(task.store, space, task.settings.network, task.seed)


def train(task: Task, _settings: FreshSettings) -> Trained:
    """Return a network that has not learned.

    Raises:
        ConfigurationError: this kind of network cannot play the run's game, or ``network.init_from`` does not fit it.
        DataError: the first collect shard, or the policy to begin from, is missing or altered.
    """
    return Trained(policy=fresh_network(task), summary={})


FRESH = Oracle(
    settings=FreshSettings,
    summary="no learning: a network with random weights, for trainings that start from nothing",
    train=train,
    makes="network",
    begins_from_policy=True,
    plays="teacher",
    answers_opponents=False,
    policy_name="untrained network",
)
