"""A network as it acts: weights laid out once, buffers that are kept, no gradient.

Shapes: B decisions, F observation values, A actions, E ``entity_size``, V vectors that the trunk sees, W columns of an
entity's row.

The logits are those of ``ActorCritic.logits`` up to rounding (|Δ log π| < 1e-4; in practice 1e-6): only sums are taken
in another order. The trunk runs on oneDNN, which uses the processor's widest vectors whoever made it, where torch's
own products may use half of them; and an entity's blocks are one product, not one each.
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
_HAS_ONEDNN = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class _RowEncoder:
    """What turns an entity's rows into vectors."""

    entity: Entity
    weights: Tensor
    """(W, E); zero where a category stands."""
    bias: Tensor
    """(E,)"""
    categories: slice
    """Where its categories stand among those of the observation."""
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
            category, vector = 0, 0
            for entity, index in zip(network.entities, network.encoder_of, strict=True):
                weights, bias = torch.cat(fused.number_weights[index]), fused.biases[index].clone()
                categories = slice(category, category + entity.rows * len(entity.vocabularies))
                vectors = slice(vector, vector + entity.rows)
                self._encoders.append(_RowEncoder(entity, weights, bias, categories, vectors))
                category, vector = categories.stop, vector + entity.num_vectors
            self._vectors = torch.zeros(_CHUNK_ROWS, vector, network.settings.entity_size)
            hidden = [layer for layer in network.trunk if isinstance(layer, Linear)]
            self._layers = [
                (_packed(layer.weight.clone()), _packed(layer.bias.clone())) for layer in (*hidden, network.actor)
            ]

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of ``observations`` (B, F)."""
        with torch.inference_mode():
            chunks = [self._chunk(chunk) for chunk in torch.split(torch.from_numpy(observations), _CHUNK_ROWS)]
            logits: NDArray[np.float32] = (chunks[0] if len(chunks) == 1 else torch.cat(chunks)).numpy()
        return logits

    def _chunk(self, observations: Tensor) -> Tensor:
        num_rows = len(observations)
        self._encode(observations, self._vectors[:num_rows])
        hidden = _packed(self._vectors[: -(-num_rows // _ROW_MULTIPLE) * _ROW_MULTIPLE].flatten(1))
        for weight, bias in self._layers[:-1]:
            hidden = functional.linear(hidden, weight, bias).relu_()
        logits = functional.linear(hidden, *self._layers[-1])
        return (logits.to_dense() if logits.is_mkldnn else logits)[:num_rows]

    def _encode(self, observations: Tensor, vectors: Tensor) -> None:
        """Fill ``vectors`` (B, V, E)."""
        num_rows, _, size = vectors.shape
        categories = self._look_up.indices(observations)
        for encoder in self._encoders:
            entity = encoder.entity
            rows = torch.addmm(encoder.bias, encoder.columns(observations), encoder.weights)
            if entity.vocabularies:
                indices = categories[:, encoder.categories].reshape(-1, len(entity.vocabularies))
                rows += functional.embedding_bag(indices, self._table, mode="sum")
            filled = vectors[:, encoder.vectors]
            torch.clamp_min(rows.view(num_rows, entity.rows, size), 0, out=filled)
            if entity.active is not None:
                torch.sum(observations[:, entity.active].unsqueeze(2) * filled, 1, out=vectors[:, encoder.vectors.stop])


def _packed(tensor: Tensor) -> Tensor:
    """Return ``tensor`` for oneDNN, where torch was built with it."""
    return tensor.to_mkldnn() if _HAS_ONEDNN else tensor


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
