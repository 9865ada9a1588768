"""No learning: networks with random weights, and networks that play uniformly.

A run of copies of one policy under different ids has a known answer: nothing differs from anything. Whatever such a
*null run* claims, a progress, a gap, an exploitability or a cycle, is an error of its statistics.
"""

import torch

from nashdex.core.steps import StepName
from nashdex.learning.initial import first_network
from nashdex.oracles.interface import Task, Trained
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.oracles import FreshSettings, NullSettings
from nashdex.store.attempt import read_manifest
from nashdex.trajectory.shard import read_shards


def fresh(task: Task, _settings: FreshSettings) -> Trained:
    """Return a network that has not learned.

    Raises:
        ConfigurationError: this kind of network cannot play the run's game, or ``network.init_from`` does not fit it.
        DataError: the first collect shard, or the policy to begin from, is missing or altered.
    """
    return Trained(policy=_network(task), summary={})


def uniform(task: Task, _settings: NullSettings) -> Trained:
    """Return a network that plays uniformly over the legal actions, exactly as the scripted policy ``random`` does.

    Its actor is 0 everywhere; its critic's random weights give every copy an id of its own.

    Raises:
        ConfigurationError: this kind of network cannot play the run's game.
        DataError: the first collect shard is missing or altered.
    """
    network = _network(task)
    with torch.no_grad():
        for parameter in network.actor_parameters():
            parameter.zero_()
    return Trained(policy=network, summary={})


def _network(task: Task) -> ActorCritic:
    """Return a network with random weights by the task's seed, or with the weights of ``network.init_from``.

    Its space is the collected battles': a trainer on a cluster has no simulator to ask.
    """
    space, _ = read_shards(task.store, [read_manifest(task.store, task.plan.iteration, StepName.COLLECT, 0)])
    return first_network(task.store, space, task.settings.network, task.seed)
