"""Layers of attention between tokens (Vaswani et al. 2017), normalised before each part (Xiong et al. 2020).

Shapes: B decisions, T tokens, D ``token_size``, H heads.
"""

import torch
from torch import Tensor, nn

from nashdex.policies.networks.linear import linear


class AttentionLayer(nn.Module):
    """One layer: each token looks at all, and then goes through two layers by itself.

    The products are written out: with few tokens they cost little, and they give the same bits each time on every
    device, as a training that resumes needs.
    """

    def __init__(self, size: int, num_heads: int, feedforward_size: int, gain: float) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.before_attention = nn.LayerNorm(size)
        # A bias of the keys would change nothing.
        self.looks = nn.Linear(size, 3 * size, bias=False)
        self.joined = linear(size, size, gain)
        self.before_layers = nn.LayerNorm(size)
        self.first = linear(size, feedforward_size, gain=2**0.5)
        self.second = linear(feedforward_size, size, gain)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens (B, T, D) after the layer."""
        tokens = tokens + self._attention(self.before_attention(tokens))
        changed: Tensor = tokens + self.second(torch.relu(self.first(self.before_layers(tokens))))
        return changed

    def _attention(self, tokens: Tensor) -> Tensor:
        num, num_tokens, size = tokens.shape
        # As one matrix: the bits are then the same with and without gradients.
        looks = self.looks(tokens.reshape(-1, size)).view(num, num_tokens, 3, self._num_heads, -1)
        queries, keys, values = looks.permute(2, 0, 3, 1, 4).unbind()
        weights = (queries @ keys.transpose(2, 3) * queries.shape[-1] ** -0.5).softmax(dim=-1)
        mixed: Tensor = self.joined((weights @ values).transpose(1, 2).reshape(num, num_tokens, size))
        return mixed
