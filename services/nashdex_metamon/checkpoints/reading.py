"""Reads a checkpoint's tensors: no pickled code, only the names that the network has, and every one of them."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor, nn

from nashdex.core.errors import DataError
from nashdex.core.user_input import shorten
from nashdex_metamon.checkpoints.amago import AmagoAgent
from nashdex_metamon.checkpoints.architecture import MiniRnnArchitecture
from nashdex_metamon.checkpoints.inferring import Shape
from nashdex_metamon.checkpoints.mini_rnn import MiniRnn

MAX_CHECKPOINT_BYTES = 1 << 33
_IGNORED = re.compile(r"(critics|target_critics|maximized_critics|target_actor|popart)\.")
"""What an agent's file has for training alone."""
_MOST_NAMES = 6
_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file or of a torch state dict, as float32, without those for training alone.

    A torch file is read with ``weights_only``: it can hold tensors and no code. Weights of AMAGO's normalised layers
    are multiplied out (W·γ / (uᵀ W v)), which changes nothing when they no longer learn.

    Raises:
        DataError: it cannot be read, is too large, or is no dictionary of tensors.
    """
    try:
        if path.stat().st_size > MAX_CHECKPOINT_BYTES:
            raise DataError(f"{path} has more than {MAX_CHECKPOINT_BYTES:,} bytes; expected a checkpoint")
        if path.suffix == ".safetensors":
            return parse_tensors(path.read_bytes(), str(path))
        found: object = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"cannot read the checkpoint {path}: {error.strerror or error}") from error
    except (UnpicklingError, RuntimeError, ValueError, KeyError, EOFError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"{path} is not a checkpoint: expected safetensors, or a torch state dict that weights_only accepts "
            f"({reason})"
        ) from error
    return _numeric(found, str(path))


def parse_tensors(data: bytes, source: str) -> dict[str, Tensor]:
    """Return the tensors of safetensors bytes, as ``read_tensors`` does; ``source`` names them in errors.

    Raises:
        DataError: it is not a safetensors file.
    """
    try:
        found = safetensors.load(data)
    except SafetensorError as error:
        raise DataError(f"{source} is not a safetensors file: {error}") from error
    return _numeric(found, source)


def _numeric(found: object, path: str) -> dict[str, Tensor]:
    if not isinstance(found, Mapping):
        raise DataError(f"{path} holds a {type(found).__name__}; expected a state dict: tensors by name")
    wrong = [name for name, value in found.items() if not isinstance(name, str) or not isinstance(value, Tensor)]
    if wrong:
        raise DataError(f"{path} is not a state dict: {shorten(wrong[0])} is not a tensor")
    kept = {name: tensor for name, tensor in found.items() if not _IGNORED.match(name)}
    numeric = {name: tensor.to(torch.float32) for name, tensor in kept.items() if tensor.dtype in _FLOATS}
    if len(numeric) < len(kept):
        other = min(kept.keys() - numeric.keys())
        raise DataError(f"{path}: tensor {other!r} is {kept[other].dtype}; expected floating-point weights")
    return _multiplied_out(numeric, path)


def build(shape: Shape) -> MiniRnn | AmagoAgent:
    """Return the network of ``shape``, with weights of no meaning."""
    sizes = (shape.num_words, shape.num_numbers, shape.num_actions)
    if isinstance(shape.architecture, MiniRnnArchitecture):
        return MiniRnn(shape.architecture, *sizes)
    return AmagoAgent(shape.architecture, *sizes)


def check_shapes(shape: Shape, tensors: Mapping[str, Tensor], source: str) -> None:
    """Raise DataError unless ``tensors`` are exactly the tensors of the network of ``shape``. Takes no memory."""
    with torch.device("meta"):
        network = build(shape)
    check_tensors(network, tensors, source)


def load_network(shape: Shape, tensors: Mapping[str, Tensor], source: str) -> MiniRnn | AmagoAgent:
    """Return the network of ``shape`` with the weights ``tensors``, ready to play; ``source`` names them in errors.

    Raises:
        DataError: tensors are missing, unexpected, of another shape, or not finite.
    """
    with torch.device("meta"):
        network = build(shape)
    check_tensors(network, tensors, source)
    network.load_state_dict(dict(tensors), assign=True)
    network.eval().requires_grad_(requires_grad=False)
    return network


def check_tensors(network: nn.Module, tensors: Mapping[str, Tensor], source: str) -> None:
    """Raise DataError, with missing and unexpected names, unless ``tensors`` are exactly the ones of ``network``."""
    expected = network.state_dict()
    problems = []
    if missing := sorted(expected.keys() - tensors.keys()):
        problems.append(f"missing {_listed(missing)}")
    if unexpected := sorted(tensors.keys() - expected.keys()):
        problems.append(f"unexpected {_listed(unexpected)}")
    shared = sorted(tensors.keys() & expected.keys())
    problems += [
        f"{name} has shape {tuple(tensors[name].shape)}, expected {tuple(expected[name].shape)}"
        for name in shared
        if tensors[name].shape != expected[name].shape
    ][:_MOST_NAMES]
    if not problems:
        problems = [
            f"{name} holds a number that is not finite" for name in shared if not tensors[name].isfinite().all()
        ]
    if problems:
        raise DataError(f"{source} does not fit the architecture: {'; '.join(problems[: 2 + _MOST_NAMES])}")


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{len(names)}: {shown}{', …' if len(names) > _MOST_NAMES else ''}"


def _multiplied_out(tensors: dict[str, Tensor], source: str) -> dict[str, Tensor]:
    folded = dict(tensors)
    for name in _layers_with(tensors, "gamma"):
        parts = [f"{name}.{part}" for part in ("weight", "u", "v", "gamma")]
        missing = [part for part in parts if part not in tensors]
        if missing:
            raise DataError(f"{source}: the normalised layer {name} lacks {', '.join(missing)}")
        weight, u, v, gamma = (tensors[part] for part in parts)
        if weight.shape != (len(u), len(v)) or gamma.numel() != 1:
            raise DataError(f"{source}: the normalised layer {name} has parts whose shapes do not fit")
        folded[parts[0]] = weight * (gamma / (u @ weight @ v))
        for part in parts[1:]:
            del folded[part]
    return folded


def _layers_with(tensors: Iterable[str], part: str) -> list[str]:
    return [name.removesuffix(f".{part}") for name in tensors if name.endswith(f".{part}")]
