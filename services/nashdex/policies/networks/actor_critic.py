"""What training and acting ask of a network.

Shapes: B decisions, F observation values, A actions.

A network that ``remembers`` sees earlier decisions of the same battle. In training it is given whole battles: rows are
battles one after another, each from its first decision on, and an observation has one value more, (B, F + 1), the
number of the decision within its battle, from 0. In battles it is given one decision of each seat at a time.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import Space
from nashdex.policies.memory import RememberingNetwork
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.values import expected
from nashdex.settings.networks import NetworkSettings


class ActingNetwork(Protocol):
    """A network's actor under fixed weights, fast for the batches that battles give. This is the whole surface."""

    def logits(self, observed: Observed) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of B observations; in a joint space as ``ActorCritic``."""


class Outputs(NamedTuple):
    """What a network says of B decisions."""

    logits: Tensor
    """The actor's before masking, (B, A)."""
    value_outputs: Tensor
    """The critic's, (B, V), as ``values.value_loss`` takes them."""
    prediction: Tensor | None
    """Logits of the opponent's choice, (B, C) of ``opponent_choices``; None without a head."""

    @property
    def values(self) -> Tensor:
        """The critic's values, (B,)."""
        return expected(self.value_outputs)


class ActorCritic(nn.Module, ABC):
    """A network under training. Actor and critic share no weights: they have their own optimiser groups.

    Training and acting compute the same log-probabilities up to rounding: |Δ log π| < 1e-4 in float32.
    """

    critic: nn.Module
    """All weights of ``values``, and none of ``logits``."""

    def __init__(self, space: Space, settings: NetworkSettings) -> None:
        super().__init__()
        self.space = space
        self.settings = settings

    remembers: bool = False
    """Whether it sees earlier decisions of the battle. Then ``for_acting`` returns a ``RememberingNetwork``, whose
    inputs are ``observations`` (N, F)."""
    predicts_opponent: bool = False
    """Whether ``logits_and_prediction`` returns a prediction."""
    is_recordable: bool = False
    """Whether forward passes over equally many rows are the same operations, whatever the rows say, and need no value
    from the host: a GPU then records them once and launches them as a whole."""

    def actor_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that are not the critic's."""
        critic = list(self.critic.parameters())
        return [parameter for parameter in self.parameters() if all(parameter is not other for other in critic)]

    @property
    def num_parameters(self) -> int:
        """How many numbers training adjusts."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def architecture(self) -> str:
        """The name of what equal weights compute."""
        return NETWORKS[self.settings.kind].architecture

    def fitted(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return another policy's ``parameters`` as this network takes them: unchanged, unless it knows better."""
        return dict(parameters)

    def fuse(self) -> Any:  # noqa: ANN401 - each network prepares what helps it
        """Return all that follows from the current weights alone, for callers that apply them many times."""
        return None

    def forward(self, observations: Tensor, fused: Any = None) -> tuple[Tensor, Tensor]:  # noqa: ANN401 - see fuse
        """Return logits before masking (B, A) and values (B,) of ``observations`` (B, F), float32."""
        outputs = self.outputs(observations, fused)
        return outputs.logits, outputs.values

    def outputs(self, observations: Tensor, fused: Any = None) -> Outputs:  # noqa: ANN401 - see fuse
        """Return all that training learns from: faster than one output after the other where they share work.

        With ``fused``, a network may leave out the prediction.
        """
        if fused is not None:
            return Outputs(self.logits(observations, fused), self.value_outputs(observations), None)
        logits, prediction = self.logits_and_prediction(observations)
        return Outputs(logits, self.value_outputs(observations), prediction)

    @abstractmethod
    def logits(self, observations: Tensor, fused: Any = None) -> Tensor:  # noqa: ANN401 - see fuse
        """Return the actor's logits before masking, (B, A): all that acting needs.

        In a joint space, return what ``policies.masked`` scores pairs with, (B, 2, actions of a slot, 1 + factors).
        """

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the logits, and the opponent's, (B, C) of ``opponent_choices``; None without a head for them.

        The prediction's loss shapes what the actor sees in an observation; no policy plays by it.
        """
        return self.logits(observations), None

    @abstractmethod
    def values(self, observations: Tensor) -> Tensor:
        """Return the critic's values, (B,)."""

    def value_outputs(self, observations: Tensor) -> Tensor:
        """Return what the critic's loss follows from, (B, V) of ``policies.networks.values``; here, the values."""
        return self.values(observations).unsqueeze(1)

    @property
    def value_layer(self) -> nn.Module | None:
        """The critic's last linear layer, whose inputs' rank training measures; None without one."""
        layers = [module for module in self.critic.modules() if isinstance(module, nn.Linear)]
        return layers[-1] if layers else None

    @abstractmethod
    def for_acting(self) -> ActingNetwork | RememberingNetwork:
        """Return the actor under its current weights: later changes of the network have no effect on it."""


def make_network(space: Space, settings: NetworkSettings) -> ActorCritic:
    """Return a network for ``space`` with fresh weights from torch's generator.

    Raises:
        ConfigurationError: this kind of network cannot play in ``space``.
    """
    kind = NETWORKS[settings.kind]
    if kind.num_slots != space.num_slots:
        able = [name for name, other in NETWORKS.all().items() if other.fits(space.game, space.num_slots)]
        raise ConfigurationError(
            f"the network {settings.kind!r} chooses for {kind.num_slots} slots, and {space.format} has "
            f"{space.num_slots}: expected {' or '.join(able) or 'a network of an installed package'}"
        )
    network = resolve_name(kind.implementation)(space, settings)
    assert isinstance(network, ActorCritic)
    return network
