"""AMAGO agents with metamon's embedding: a transformer over a battle's decisions, and the actor's logits.

Sources: Grigsby et al., AMAGO (2023) and AMAGO-2 (2024); Zhai et al., Stabilizing Transformer Training (2023) for the
normalised weights, which ``reading`` multiplies out; Shleifer et al., NormFormer (2021) for the extra norms.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from nashdex.policies.memory import Inputs, Memory
from nashdex_metamon.checkpoints.architecture import AmagoArchitecture, MemoryArchitecture
from nashdex_metamon.checkpoints.turn import TurnEmbedding, sinusoids

_KEYS, _VALUES, _TIME = "keys", "values", "time"


class _Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(x)
        return normed


class _Attention(nn.Module):
    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self._num_heads = num_heads
        self._head_size = width // num_heads
        self.qkv_projection = nn.Linear(width, 3 * width, bias=False)
        self.head_scaler = nn.Parameter(torch.ones(1, 1, num_heads, 1))
        self.out_projection = nn.Linear(width, width)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of ``x`` (N, T, D), each of shape (N, T, D / H, H): heads vary fastest."""
        projected = self.qkv_projection(x).unflatten(-1, (3, self._head_size, self._num_heads))
        queries, keys, values = projected.unbind(-3)
        return queries, keys, values

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, visible: Tensor) -> Tensor:
        """Return the attention of T queries to S keys, shape (N, T, D); ``visible`` is boolean (N or 1, T, S)."""
        scores = torch.einsum("nteh,nseh->nhts", queries, keys) / self._head_size**0.5
        weights = scores.masked_fill(~visible.unsqueeze(1), -torch.inf).softmax(dim=-1)
        heads = torch.einsum("nhts,nseh->nthe", weights, values) * self.head_scaler
        attended: Tensor = self.out_projection(heads.flatten(-2))
        return attended


class _Layer(nn.Module):
    def __init__(self, sizes: MemoryArchitecture) -> None:
        super().__init__()
        self.attention_layer = _Attention(sizes.width, sizes.num_heads)
        self.ff1 = nn.Linear(sizes.width, sizes.feed_forward)
        self.ff2 = nn.Linear(sizes.feed_forward, sizes.width)
        self.norm1 = _Norm(sizes.width)
        self.norm2 = _Norm(sizes.width)
        self.norm3 = _Norm(sizes.width)
        self.norm4 = _Norm(sizes.feed_forward)

    def add(self, x: Tensor, attended: Tensor) -> Tensor:
        """Return ``x`` after the residual additions of attention and feed-forward."""
        x = x + self.norm2(attended)
        added: Tensor = x + self.ff2(self.norm4(leaky_relu(self.ff1(self.norm3(x)))))
        return added


class _Transformer(nn.Module):
    def __init__(self, width_in: int, sizes: MemoryArchitecture) -> None:
        super().__init__()
        self._width = sizes.width
        self.inp = nn.Linear(width_in, sizes.width)
        self.layers = nn.ModuleList(_Layer(sizes) for _ in range(sizes.num_layers))
        self.norm = _Norm(sizes.width)

    def embed(self, x: Tensor, time: Tensor) -> Tensor:
        """Return the input of the first layer; ``time`` counts decisions from 0."""
        embedded: Tensor = self.inp(x) + sinusoids(time.to(x.dtype), self._width)
        return embedded


class _Trajectory(nn.Module):
    def __init__(self, width_in: int, sizes: MemoryArchitecture) -> None:
        super().__init__()
        self.tformer = _Transformer(width_in, sizes)


class _TimeStep(nn.Module):
    def __init__(self, sizes: AmagoArchitecture, num_words: int, num_numbers: int, num_actions: int) -> None:
        super().__init__()
        self.extra_emb = nn.Linear(1 + num_actions, sizes.extra_size)
        self.turn_embedding = TurnEmbedding(sizes.turn, num_words, num_numbers + sizes.extra_size)

    def forward(self, tokens: Tensor, numbers: Tensor, previous: Tensor) -> Tensor:
        symlog = previous.sign() * previous.abs().log1p()
        extra = leaky_relu(self.extra_emb(symlog))
        embedded: Tensor = self.turn_embedding(tokens, torch.cat((numbers, extra), dim=-1))
        return embedded


class _ActorBase(nn.Module):
    def __init__(self, width_in: int, sizes: AmagoArchitecture, num_actions: int) -> None:
        super().__init__()
        hidden = sizes.actor_hidden
        self.in_layer = nn.Linear(width_in, hidden)
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(sizes.actor_layers - 1))
        self.out_layer = nn.Linear(hidden, sizes.num_gammas * num_actions)


class _Actor(nn.Module):
    def __init__(self, width_in: int, sizes: AmagoArchitecture, num_actions: int) -> None:
        super().__init__()
        self._num_actions = num_actions
        self.base = _ActorBase(width_in, sizes, num_actions)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of the last discount, the longest horizon, shape (…, A)."""
        x = leaky_relu(self.base.in_layer(x))
        for layer in self.base.layers:
            x = leaky_relu(layer(x))
        logits: Tensor = self.base.out_layer(x)[..., -self._num_actions :]
        return logits


class AmagoAgent(nn.Module):
    """Implements ``policies.memory.RememberingNetwork``. Names of modules are from AMAGO's files.

    ``previous`` holds the raw reward that the model was trained with, and is zero at a battle's first decision.
    """

    def __init__(self, sizes: AmagoArchitecture, num_words: int, num_numbers: int, num_actions: int) -> None:
        super().__init__()
        self._memory = sizes.memory
        self.tstep_encoder = _TimeStep(sizes, num_words, num_numbers, num_actions)
        self.traj_encoder = _Trajectory(sizes.turn.num_scratch_tokens * sizes.turn.width, sizes.memory)
        self.actor = _Actor(sizes.memory.width, sizes, num_actions)

    def memory_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of one seat's memory: a ring of keys and values, and the number of past decisions."""
        sizes = self._memory
        ring = (sizes.num_layers, sizes.num_decisions, sizes.width // sizes.num_heads, sizes.num_heads)
        return {_KEYS: ring, _VALUES: ring, _TIME: ()}

    def rewind(self, memory: Memory, slots: Tensor) -> None:
        """Forget the last decision of ``slots``: the next one takes its place in the ring."""
        memory[_TIME][slots] -= 1

    def step(self, inputs: Inputs, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of one decision for each row, shape (N, A), and write the memory of ``slots``, shape (N,).

        Reads ``tokens`` (N, W), ``numbers`` (N, F) and ``previous`` (N, 1 + A): the last reward, then the last action
        as one-hot. Positions are part of the keys, so their order in the ring has no meaning.
        """
        transformer = self.traj_encoder.tformer
        time = memory[_TIME][slots].to(torch.int64)
        capacity = self._memory.num_decisions
        at = time % capacity
        visible = (torch.arange(capacity) <= time.unsqueeze(1)).unsqueeze(1)
        step = self.tstep_encoder(inputs["tokens"], inputs["numbers"], inputs["previous"])
        x = transformer.embed(step, time).unsqueeze(1)
        for number, layer in enumerate(transformer.layers):
            assert isinstance(layer, _Layer)
            queries, keys, values = layer.attention_layer.project(layer.norm1(x))
            memory[_KEYS][slots, number, at] = keys[:, 0]
            memory[_VALUES][slots, number, at] = values[:, 0]
            past = memory[_KEYS][slots, number], memory[_VALUES][slots, number]
            x = layer.add(x, layer.attention_layer.attend(queries, *past, visible))
        memory[_TIME][slots] += 1
        logits: Tensor = self.actor(transformer.norm(x)[:, 0])
        return logits

    def forward(self, tokens: Tensor, numbers: Tensor, previous: Tensor) -> Tensor:
        """Return the logits of whole battles, shape (N, T, A), from (N, T, W), (N, T, F) and (N, T, 1 + A)."""
        transformer = self.traj_encoder.tformer
        rows, decisions = tokens.shape[:2]
        steps = self.tstep_encoder(tokens.flatten(0, 1), numbers.flatten(0, 1), previous.flatten(0, 1))
        time = torch.arange(decisions)
        x = transformer.embed(steps.view(rows, decisions, -1), time)
        age = time.unsqueeze(1) - time
        visible = ((age >= 0) & (age < self._memory.num_decisions)).unsqueeze(0)
        for layer in transformer.layers:
            assert isinstance(layer, _Layer)
            x = layer.add(x, layer.attention_layer.attend(*layer.attention_layer.project(layer.norm1(x)), visible))
        logits: Tensor = self.actor(transformer.norm(x))
        return logits
