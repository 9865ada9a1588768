"""Adam with a group of parameters for the actor and one for the critic, whose state is kept by parameter name."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nashdex.core.errors import DataError
from nashdex.policies.networks.actor_critic import ActorCritic


@dataclass(frozen=True)
class Rates:
    """Step sizes of one update."""

    actor: float
    critic: float

    @classmethod
    def both(cls, rate: float) -> "Rates":
        """Return one rate for actor and critic."""
        return cls(rate, rate)

    def scaled(self, factor: float) -> "Rates":
        """Return both rates times ``factor``."""
        return Rates(self.actor * factor, self.critic * factor)


class Optimiser:
    """Takes the steps of one network.

    Actor and critic share no weights, so each has its own step size and its own limit of the gradient: a large error
    of one does not shorten the other's step.
    """

    def __init__(self, network: ActorCritic) -> None:
        self._network = network
        groups = [network.actor_parameters(), list(network.critic.parameters())]
        # One pass over each parameter. A GPU keeps torch's own choice, whose steps are counted on the CPU.
        fused = True if next(network.parameters()).device.type == "cpu" else None
        self._adam = torch.optim.Adam([{"params": group} for group in groups], eps=1e-5, fused=fused)

    def clip_gradients(self, max_norm: float) -> float:
        """Scale each group's gradient down to ``max_norm``; return the norm of all before that."""
        norms = [nn.utils.clip_grad_norm_(group["params"], max_norm) for group in self._adam.param_groups]
        # The norm of a group without any gradient is on the CPU.
        device = next(self._network.parameters()).device
        return float(torch.stack([norm.to(device) for norm in norms]).norm())

    def step(self, rates: Rates) -> None:
        """Take one step."""
        for group, rate in zip(self._adam.param_groups, (rates.actor, rates.critic), strict=True):
            group["lr"] = rate
        self._adam.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return Adam's state by PARAMETER/KEY, as it is, not copied."""
        return {
            f"{name}/{key}": value
            for name, parameter in self._network.named_parameters()
            for key, value in self._adam.state.get(parameter, {}).items()
        }

    def set_tensors(self, tensors: Mapping[str, Tensor], source: str) -> None:
        """Take over copies of the tensors that ``tensors`` returned.

        Raises:
            DataError: a tensor has another shape than its parameter; the message names ``source``.
        """
        self._adam.state.clear()
        for name, parameter in self._network.named_parameters():
            prefix = f"{name}/"
            state = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
            if any(value.dim() and value.shape != parameter.shape for value in state.values()):
                raise DataError(f"{source} does not fit the network: the optimiser's state of {name} has another shape")
            if state:
                self._adam.state[parameter] = {
                    # Adam counts its steps on the CPU, wherever the parameters are.
                    key: value.clone() if key == "step" else value.to(parameter.device, copy=True)
                    for key, value in state.items()
                }
