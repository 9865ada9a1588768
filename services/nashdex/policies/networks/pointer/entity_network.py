"""The base of networks whose actor and critic encode entities: both share one reading of the observations.

Shapes: B decisions, F observation values, A actions. A network that remembers gets (B, F + 1), see ``actor_critic``.
"""

import copy
from abc import abstractmethod
from collections.abc import Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nashdex.policies.networks.actor_critic import ActorCritic, Outputs
from nashdex.policies.networks.damage import AsObserved
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.pointer.rows import Rows
from nashdex.policies.networks.values import expected

InputsT = TypeVar("InputsT")
FusedT = TypeVar("FusedT")
_InputsT_co = TypeVar("_InputsT_co", covariant=True)
_FusedT_co = TypeVar("_FusedT_co", covariant=True)


class Reader(Protocol[_InputsT_co, _FusedT_co]):
    """An encoder as far as this module needs it."""

    sees: AsObserved
    """What it sees of observations, and reads."""

    def fuse(self) -> _FusedT_co:
        """Return the first layers under the current weights."""

    def read(self, observations: Tensor) -> _InputsT_co:
        """Return the inputs that depend on ``observations`` (B, F) alone; encoders of one space share them."""


class Read(NamedTuple, Generic[InputsT]):
    """Observations as the encoders of actor and critic take them: read once for both."""

    inputs: InputsT
    lengths: list[int]
    """Decisions of each battle, in order; none for a network that does not remember."""


class EntityNetwork(ActorCritic, Generic[InputsT, FusedT]):
    """Actor and critic over one reading of the observations. A subclass scores, and its critic takes a ``Read``."""

    opponent: nn.Module | None
    """Predicts the opponent's choice from what ``scores`` returns beside the scores."""

    @property
    @abstractmethod
    def actor_encoder(self) -> Reader[InputsT, FusedT]:
        """The actor's encoder, which reads observations for the critic too."""

    @abstractmethod
    def scores(self, read: Read[InputsT], fused: FusedT) -> tuple[Tensor, Tensor]:
        """Return the actor's scores (B, A), and the context (B, …) that they follow from."""

    def fitted(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return another policy's ``parameters``: estimates of damage that it does not see weigh nothing at first."""
        fitted = dict(parameters)
        for prefix, module in self.named_modules():
            name = f"{prefix}.numbers"
            if isinstance(module, Rows) and name in fitted:
                fitted[name] = module.with_estimates(fitted[name])
        return fitted

    def fuse(self) -> FusedT:
        """Return the actor's first layers under the current weights."""
        return self.actor_encoder.fuse()

    def logits(self, observations: Tensor, fused: FusedT | None = None) -> Tensor:
        """Return the actor's logits before masking, (B, A)."""
        return self.scores(self.read(observations), fused or self.fuse())[0]

    def values(self, observations: Tensor) -> Tensor:
        """Return the critic's values, (B,)."""
        return expected(self.value_outputs(observations))

    def value_outputs(self, observations: Tensor) -> Tensor:
        """Return the critic's outputs, (B, ``value_bins``)."""
        outputs: Tensor = self.critic(self.read(observations))
        return outputs

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the logits, and the logits of what the opponent chooses, (B, C)."""
        scores, context = self.scores(self.read(observations), self.fuse())
        return scores, self._prediction(context)

    def outputs(self, observations: Tensor, fused: FusedT | None = None) -> Outputs:
        """Return all outputs, from one reading of ``observations``; with ``fused``, no prediction."""
        read = self.read(observations)
        scores, context = self.scores(read, fused or self.fuse())
        return Outputs(scores, self.critic(read), self._prediction(context) if fused is None else None)

    def read(self, observations: Tensor) -> Read[InputsT]:
        """Return ``observations`` as the encoders take them."""
        return Read(self.actor_encoder.read(observations), lengths_of(observations) if self.remembers else [])

    def _prediction(self, context: Tensor) -> Tensor | None:
        return None if self.opponent is None else self.opponent(context)


class ActingEntityNetwork(Generic[InputsT, FusedT]):
    """The actor, without memory, of ``network`` under its current weights: later changes have no effect on it.

    Implements ``ActingNetwork``.
    """

    def __init__(self, network: EntityNetwork[InputsT, FusedT]) -> None:
        self._network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        with torch.inference_mode():
            self._fused = self._network.fuse()

    def logits(self, observed: Observed) -> NDArray[np.float32]:
        """Return what ``scores`` returns for B observations, before masking."""
        network = self._network
        reads = type(network), type(network.actor_encoder.sees)
        return observed.read_in_chunks(reads, network.read, lambda read: network.scores(read, self._fused)[0])


def lengths_of(observations: Tensor) -> list[int]:
    """Return the decisions of each battle in ``observations`` (B, F + 1), in order."""
    starts = (observations[:, -1] == 0).nonzero().flatten().tolist()
    assert starts[:1] == [0], "the first row is not the first decision of a battle"
    return [end - start for start, end in zip(starts, [*starts[1:], len(observations)], strict=True)]
