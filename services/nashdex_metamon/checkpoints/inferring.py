"""The architecture that a checkpoint's tensors have. Shapes show all of it but two numbers, which are arguments."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError
from torch import Tensor

from nashdex.core.documents import describe_problems
from nashdex.core.errors import DataError
from nashdex_metamon.checkpoints.architecture import AmagoArchitecture, MiniRnnArchitecture

_MATRIX = 2
_BIAS_OF_HEADS = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """An architecture and the sizes of what it reads and answers."""

    architecture: MiniRnnArchitecture | AmagoArchitecture
    num_words: int
    """Words of the vocabulary, without the row for unknown words."""
    num_numbers: int
    num_actions: int


def infer(tensors: Mapping[str, Tensor], source: str, *, turn_heads: int, num_decisions: int) -> Shape:
    """Return the architecture of ``tensors``; ``source`` names them in errors.

    Args:
        tensors: by name, as ``reading.read_tensors`` returns them.
        source: names the file in errors.
        turn_heads: heads of the transformer over one decision.
        num_decisions: decisions that a transformer's memory reaches back; a GRU has no such number.

    Raises:
        DataError: they are of neither architecture.
    """
    found = _Shapes(tensors, source)
    try:
        if "rnn.weight_ih_l0" in tensors:
            return _mini_rnn(found, turn_heads)
        return _amago(found, turn_heads, num_decisions)
    except ValidationError as error:
        raise DataError(f"{source} has sizes that no network has: {describe_problems(error)}") from error


class _Shapes:
    def __init__(self, tensors: Mapping[str, Tensor], source: str) -> None:
        self._tensors = tensors
        self._source = source

    def matrix(self, name: str) -> tuple[int, int]:
        """Return the shape of a weight: (out, in)."""
        shape = self._of(name)
        if len(shape) != _MATRIX or not all(shape):
            raise DataError(f"{self._source}: {name} has shape {shape}, expected a matrix")
        return shape[0], shape[1]

    def num_heads(self, name: str) -> int:
        shape = self._of(name)
        if len(shape) != _BIAS_OF_HEADS:
            raise DataError(f"{self._source}: {name} has shape {shape}, expected (1, 1, heads, 1)")
        return shape[2]

    def num_layers(self, prefix: str) -> int:
        """Return 1 + the largest number after ``prefix``."""
        pattern = re.compile(rf"{re.escape(prefix)}\.(\d{{1,3}})\.")
        return max((int(match[1]) + 1 for name in self._tensors if (match := pattern.match(name))), default=0)

    def _of(self, name: str) -> tuple[int, ...]:
        if name not in self._tensors:
            some = ", ".join(sorted(self._tensors)[:3])
            raise DataError(
                f"{self._source} is not a checkpoint of metamon: it lacks {name!r}, and has {len(self._tensors)} "
                f"tensors such as {some or 'none'}. Perceivers and GRU memories of AMAGO are not supported"
            )
        return tuple(self._tensors[name].shape)


def _turn(found: _Shapes, prefix: str, turn_heads: int, scratch_width: int) -> tuple[dict[str, int], int, int]:
    """Return the sizes of an embedding of decisions, its vocabulary's size, and how many numbers it reads."""
    rows, width = found.matrix(f"{prefix}token_embedding.text_emb.weight")
    number_width, num_numbers = found.matrix(f"{prefix}multimodal_fuse.num_emb.weight")
    sizes = {
        "width": width,
        "num_layers": found.num_layers(f"{prefix}tformer_embedding.emb_transformer.layers"),
        "num_heads": turn_heads,
        "num_number_tokens": number_width // width,
        "num_scratch_tokens": scratch_width // width,
    }
    return sizes, rows - 1, num_numbers


def _mini_rnn(found: _Shapes, turn_heads: int) -> Shape:
    gates, embedded = found.matrix("rnn.weight_ih_l0")
    turn, num_words, num_numbers = _turn(found, "turn_embedding.", turn_heads, embedded)
    sizes = {"turn": turn, "hidden_size": gates // 3}
    num_actions, _ = found.matrix("out.weight")
    return Shape(MiniRnnArchitecture.model_validate(sizes), num_words, num_numbers, num_actions)


def _amago(found: _Shapes, turn_heads: int, num_decisions: int) -> Shape:
    width, embedded = found.matrix("traj_encoder.tformer.inp.weight")
    turn, num_words, num_numbers = _turn(found, "tstep_encoder.turn_embedding.", turn_heads, embedded)
    extra, reward_and_actions = found.matrix("tstep_encoder.extra_emb.weight")
    feed_forward, _ = found.matrix("traj_encoder.tformer.layers.0.ff1.weight")
    hidden, _ = found.matrix("actor.base.in_layer.weight")
    logits, _ = found.matrix("actor.base.out_layer.weight")
    num_actions = reward_and_actions - 1
    sizes = {
        "turn": turn,
        "extra_size": extra,
        "memory": {
            "width": width,
            "num_layers": found.num_layers("traj_encoder.tformer.layers"),
            "num_heads": found.num_heads("traj_encoder.tformer.layers.0.attention_layer.head_scaler"),
            "feed_forward": feed_forward,
            "num_decisions": num_decisions,
        },
        "actor_hidden": hidden,
        "actor_layers": 1 + found.num_layers("actor.base.layers"),
        "num_gammas": logits // max(num_actions, 1),
    }
    return Shape(AmagoArchitecture.model_validate(sizes), num_words, num_numbers - extra, num_actions)
