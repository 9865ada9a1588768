"""A network as it acts: weights laid out once, buffers that are kept, no gradient.

Shapes: B decisions, F observation values, A actions, E ``entity_size``, V vectors that the trunk sees, W columns of an
entity's row.

The logits are those of ``ActorCritic.logits`` up to rounding (|Δ log π| < 1e-4; in practice 1e-6): only sums are taken
in another order. The trunk runs on oneDNN, which uses the processor's widest vectors whoever made it, where torch's
own products may use half of them; an entity's blocks are one product, not one each; and all rows' categories are
looked up at once.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Linear, functional

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.policies.entities import Entity
from nashdex.policies.interface import Actions
from nashdex.policies.network import ActorCritic, LookUp
from nashdex.policies.sampling import sample_masked

_CHUNK_ROWS = 128
_ROW_MULTIPLE = 8
"""oneDNN compiles and keeps kernels (some 2 MB) for each number of rows that it meets. Larger batches go in chunks, and
what is left over goes with rows to spare, so that it meets no more than 16 numbers."""
# What torch.compile makes of a linear layer: no conversion of its input and output, no pass of its own for the ReLU.
_HAS_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise") and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


@dataclass(frozen=True)
class _HiddenLayer:
    """A linear layer and its ReLU, on oneDNN where torch was built with it."""

    weight: Tensor
    """Laid out as oneDNN reads it fastest."""
    bias: Tensor

    @classmethod
    def of(cls, layer: Linear) -> "_HiddenLayer":
        """Return ``layer`` under its present weights."""
        weight = layer.weight.clone()
        if _HAS_ONEDNN:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, _CHUNK_ROWS)  # noqa: SLF001
        return cls(weight, layer.bias.clone())

    def __call__(self, inputs: Tensor) -> Tensor:
        if not _HAS_ONEDNN:
            return functional.linear(inputs, self.weight, self.bias).relu_()
        outputs: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "relu", [], "")  # noqa: SLF001
        return outputs


@dataclass(frozen=True)
class _RowEncoder:
    """What turns an entity's rows into vectors."""

    entity: Entity
    weights: Tensor
    """(W, E); zero where a category stands."""
    bias: Tensor
    """(E,)"""
    rows: slice
    """Where its rows stand among those of the observation."""
    vectors: slice
    """Where its rows' vectors stand among those that the trunk sees; the active row's comes next."""

    def columns(self, observations: Tensor) -> Tensor:
        """Return all columns of all rows, (B · rows, W)."""
        entity = self.entity
        blocks = [
            observations[:, part.offset : part.offset + entity.rows * part.width].view(-1, entity.rows, part.width)
            for part in entity.parts
        ]
        return torch.cat(blocks, dim=2).view(-1, len(self.weights))


class InferenceNetwork:
    """The actor of ``network`` under its present weights: what happens to the network later has no effect."""

    def __init__(self, network: ActorCritic) -> None:
        self._look_up = LookUp(*(tensor.clone() for tensor in network.look_up))
        with torch.inference_mode():
            fused = network.fuse()
            self._table = fused.table
            self._encoders: list[_RowEncoder] = []
            row, vector = 0, 0
            for entity, index in zip(network.entities, network.encoder_of, strict=True):
                weights, bias = torch.cat(fused.number_weights[index]), fused.biases[index].clone()
                rows, vectors = slice(row, row + entity.rows), slice(vector, vector + entity.rows)
                self._encoders.append(_RowEncoder(entity, weights, bias, rows, vectors))
                row, vector = rows.stop, vector + entity.num_vectors
            self._bags = self._look_up.bags(_CHUNK_ROWS)
            self._vectors = torch.zeros(_CHUNK_ROWS, vector, network.settings.entity_size)
            hidden = [layer for layer in network.trunk if isinstance(layer, Linear)]
            self._hidden = [_HiddenLayer.of(layer) for layer in hidden]
            self._actor = network.actor.weight.clone(), network.actor.bias.clone()

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of ``observations`` (B, F)."""
        with torch.inference_mode():
            chunks = [self._chunk(chunk) for chunk in torch.split(torch.from_numpy(observations), _CHUNK_ROWS)]
            logits: NDArray[np.float32] = (chunks[0] if len(chunks) == 1 else torch.cat(chunks)).numpy()
        return logits

    def _chunk(self, observations: Tensor) -> Tensor:
        num_rows = len(observations)
        self._encode(observations, self._vectors[:num_rows])
        hidden = self._vectors[: -(-num_rows // _ROW_MULTIPLE) * _ROW_MULTIPLE].flatten(1)
        for layer in self._hidden:
            hidden = layer(hidden)
        return functional.linear(hidden, *self._actor)[:num_rows]

    def _encode(self, observations: Tensor, vectors: Tensor) -> None:
        """Fill ``vectors`` (B, V, E)."""
        num_rows, _, size = vectors.shape
        sums = self._look_up.sums(observations, self._table, self._bags[:num_rows])
        for encoder in self._encoders:
            entity = encoder.entity
            rows = torch.addmm(encoder.bias, encoder.columns(observations), encoder.weights)
            rows = rows.view(num_rows, entity.rows, size)
            if entity.vocabularies:
                rows += sums[:, encoder.rows]
            filled = vectors[:, encoder.vectors]
            torch.clamp_min(rows, 0, out=filled)
            if entity.active is not None:
                torch.sum(observations[:, entity.active].unsqueeze(2) * filled, 1, out=vectors[:, encoder.vectors.stop])


class NetworkPolicy:
    """Acts by sampling from a network's masked distribution. Implements ``policies.interface.Policy``.

    Sets torch to one thread: battles are played by one process a core, whose threads would wait for one another.
    """

    needs_lines = False

    def __init__(self, policy: PolicyId, network: ActorCritic) -> None:
        torch.set_num_threads(1)
        self._id = policy
        self._network = InferenceNetwork(network)

    @property
    def id(self) -> PolicyId:
        """The policy's id."""
        return self._id

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row with one forward pass over all of them."""
        return sample_masked(self._network.logits(decisions.observation), decisions.mask, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Do nothing: a network remembers no battle."""
