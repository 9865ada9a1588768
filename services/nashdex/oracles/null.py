"""No learning: a network that plays uniformly over the legal actions, exactly as the scripted policy ``random`` does.

A run of copies of one policy under different ids has a known answer: nothing differs from anything. Whatever such a
*null run* claims, a progress, a gap, an exploitability or a cycle, is an error of its statistics.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Literal

from nashdex.core.lazy import LazyModule
from nashdex.core.section import Choice
from nashdex.oracles.interface import Oracle, Task, Trained

if TYPE_CHECKING:
    import torch

    from nashdex.learning import data
else:  # imported when a network is made
    torch = LazyModule("torch")
    data = LazyModule("nashdex.learning.data")


class NullSettings(Choice):
    """A network that plays uniformly. It has no settings."""

    kind: Literal["null"] = "null"


def train(task: Task, _settings: NullSettings) -> Trained:
    """Return a network whose actor is 0 everywhere; its critic's random weights give every copy an id of its own.

    Raises:
        ConfigurationError: this kind of network cannot play the run's game.
    """
    with closing(task.game.open_arena(num_gateways=1)) as arena:
        network = data.fresh_network(arena.space, task.settings.network, task.seed)
    critic = {id(parameter) for parameter in network.critic.parameters()}
    with torch.no_grad():
        for parameter in network.parameters():
            if id(parameter) not in critic:
                parameter.zero_()
    return Trained(policy=network, summary={})


NULL = Oracle(
    settings=NullSettings,
    summary="no learning: a network that plays uniformly, for null runs, in which nothing differs",
    train=train,
    makes="network",
    plays=None,
    policy_name="copy {iteration}",
)
