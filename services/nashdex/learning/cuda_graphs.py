"""Forward and backward passes on a GPU as CUDA graphs: recorded once, then launched as a whole.

A training step of a small network is bound by the launches of its thousands of operations, not by what they compute.
"""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from nashdex.policies.networks.actor_critic import ActorCritic, Outputs


class GraphedPasses:
    """The forward passes of ``network`` for minibatches of at most ``num_rows`` decisions. Implements ``Forward``.

    A graph has one shape, so a smaller minibatch is filled up. Rows that are filled in have no part in the outputs, and
    add 0 to the gradients.

    The gradients of a pass lie where the next pass writes its own: take the optimiser step in between.
    """

    def __init__(self, network: ActorCritic, num_rows: int) -> None:
        self._network = network
        self._num_rows = num_rows
        self._graphs: dict[str, Callable[[Tensor], tuple[Tensor, ...]]] = {}
        if hasattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch"):
            # A graph is recorded on a stream of its own, with which autograd synchronises each gradient.
            torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)

    def outputs(self, observations: Tensor) -> Outputs:
        """Return all that training learns from, for ``observations`` (B, F)."""
        logits, value_outputs, *prediction = self._replay("outputs", observations)
        return Outputs(logits, value_outputs, prediction[0] if prediction else None)

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return logits (B, A) and the prediction of the opponent's choice."""
        logits, *prediction = self._replay("logits_and_prediction", observations)
        return logits, prediction[0] if prediction else None

    def logits(self, observations: Tensor) -> Tensor:
        """Return logits (B, A)."""
        return self._replay("logits", observations)[0]

    def value_outputs(self, observations: Tensor) -> Tensor:
        """Return the critic's outputs, (B, V)."""
        return self._replay("value_outputs", observations)[0]

    def _replay(self, name: str, observations: Tensor) -> tuple[Tensor, ...]:
        num, filling = len(observations), self._num_rows - len(observations)
        filled = torch.cat((observations, observations[:1].expand(filling, -1)))
        if name not in self._graphs:
            recorded = torch.cuda.make_graphed_callables(
                _Pass(self._network, name), (filled.clone(),), allow_unused_input=True
            )
            self._graphs[name] = cast("Callable[[Tensor], tuple[Tensor, ...]]", recorded)
        return tuple(tensor[:num] for tensor in self._graphs[name](filled))


class _Pass(nn.Module):
    """One of the network's passes as a module whose output is tensors alone."""

    def __init__(self, network: ActorCritic, name: str) -> None:
        super().__init__()
        self.network = network
        self._name = name

    def forward(self, observations: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors of the pass."""
        result = getattr(self.network, self._name)(observations)
        tensors = (result,) if isinstance(result, Tensor) else result
        return tuple(tensor for tensor in tensors if tensor is not None)
