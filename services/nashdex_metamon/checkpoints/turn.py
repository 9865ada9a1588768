"""The embedding of one decision that metamon's models share: words and numbers, mixed by a small transformer."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from nashdex_metamon.checkpoints.architecture import TurnArchitecture

_LONGEST_WAVE = 10_000.0


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Return the sinusoidal code of ``positions`` of shape (…), shape (…, width): sines even, cosines odd.

    Source: Vaswani et al., Attention Is All You Need (2017), section 3.5.
    """
    frequencies = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(_LONGEST_WAVE) / width))
    angles = positions.unsqueeze(-1) * frequencies
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)[..., :width]


class _TokenEmbedding(nn.Module):
    def __init__(self, num_words: int, width: int) -> None:
        super().__init__()
        self.text_emb = nn.Embedding(num_words + 1, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Row 0 is the unknown word, whose id is −1."""
        embedded: Tensor = self.text_emb(tokens + 1)
        return embedded


class _Fuse(nn.Module):
    def __init__(self, sizes: TurnArchitecture, num_numbers: int) -> None:
        super().__init__()
        self._num_tokens = sizes.num_number_tokens
        self._num_scratch = sizes.num_scratch_tokens
        self.text_emb = nn.Linear(sizes.width, sizes.width)
        self.num_emb = nn.Linear(num_numbers, sizes.num_number_tokens * sizes.width)

    def forward(self, words: Tensor, numbers: Tensor) -> Tensor:
        """Return text, number and scratch tokens, shape (N, tokens, D)."""
        text = leaky_relu(self.text_emb(words))
        rows, _, width = text.shape
        embedded = leaky_relu(self.num_emb(numbers).view(rows, self._num_tokens, width))
        scratch = text.new_zeros(rows, self._num_scratch, width)
        tokens = torch.cat((text, embedded, scratch), dim=1)
        return tokens + sinusoids(torch.arange(tokens.shape[1], device=tokens.device, dtype=tokens.dtype), width)


class _Transformer(nn.Module):
    def __init__(self, sizes: TurnArchitecture) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            sizes.width,
            sizes.num_heads,
            4 * sizes.width,
            dropout=0.0,
            activation=leaky_relu,
            batch_first=True,
            norm_first=True,
        )
        self.emb_transformer = nn.TransformerEncoder(
            layer, sizes.num_layers, norm=nn.LayerNorm(sizes.width), enable_nested_tensor=False
        )

    def forward(self, tokens: Tensor) -> Tensor:
        mixed: Tensor = self.emb_transformer(tokens)
        return mixed


class TurnEmbedding(nn.Module):
    """Words (N, W) and numbers (N, F) of a decision to one vector (N, scratch tokens · D).

    Names of modules are from metamon's files.
    """

    def __init__(self, sizes: TurnArchitecture, num_words: int, num_numbers: int) -> None:
        super().__init__()
        self._num_scratch = sizes.num_scratch_tokens
        self.token_embedding = _TokenEmbedding(num_words, sizes.width)
        self.multimodal_fuse = _Fuse(sizes, num_numbers)
        self.tformer_embedding = _Transformer(sizes)

    def forward(self, tokens: Tensor, numbers: Tensor) -> Tensor:
        """Return the scratch tokens after mixing, flattened."""
        mixed = self.tformer_embedding(self.multimodal_fuse(self.token_embedding(tokens), numbers))
        scratch: Tensor = mixed[:, -self._num_scratch :].flatten(1)
        return scratch
