"""No learning: a network that plays uniformly over the legal actions, exactly as the scripted policy ``random`` does.

A run of copies of one policy under different ids has a known answer: nothing differs from anything. Whatever such a
*null run* claims, a progress, a gap, an exploitability or a cycle, is an error of its statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from nashdex.core.lazy import LazyModule
from nashdex.core.section import Choice
from nashdex.oracles.fresh import fresh_network
from nashdex.oracles.interface import Oracle, Task, Trained

if TYPE_CHECKING:
    import torch
else:  # imported when a network is made
    torch = LazyModule("torch")


class NullSettings(Choice):
    """A network that plays uniformly. It has no settings."""

    kind: Literal["null"] = "null"


def train(task: Task, _settings: NullSettings) -> Trained:
    """Return a network whose actor is 0 everywhere; its critic's random weights give every copy an id of its own.

    Raises:
        ConfigurationError: this kind of network cannot play the run's game.
        DataError: the first collect shard is missing or altered.
    """
    network = fresh_network(task)
    with torch.no_grad():
        for parameter in network.actor_parameters():
            parameter.zero_()
    return Trained(policy=network, summary={})


NULL = Oracle(
    settings=NullSettings,
    summary="no learning: a network that plays uniformly, for null runs, in which nothing differs",
    train=train,
    makes="network",
    plays="teacher",
    policy_name="copy {iteration}",
)
