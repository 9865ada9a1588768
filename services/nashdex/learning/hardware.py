"""What training asks of a device's torch: that it computes, its memory, and the precision of forward passes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

import torch
from torch import Tensor

from nashdex.core.errors import ConfigurationError
from nashdex.learning.cuda_graphs import GraphedPasses
from nashdex.policies.networks.actor_critic import ActorCritic, Outputs

_SIZE = 8


def try_device(device: str, *, num_gpus: int = 0) -> str:
    """Multiply two matrices on ``cpu`` or ``cuda``; return the device's name.

    Raises:
        ConfigurationError: torch does not see the device, or ``num_gpus`` of them, or cannot compute on it.
    """
    if device == "cuda" and not torch.cuda.is_available():
        build = f"is built for CUDA {torch.version.cuda}" if torch.version.cuda else "is built without CUDA"
        raise ConfigurationError(
            f"torch finds no CUDA device in this pod, and torch {torch.__version__} {build}: check the trainer image's "
            "build, the node's driver, and whether the pod needs a RuntimeClass (with Helm, train.runtimeClassName)"
        )
    if num_gpus > (found := torch.cuda.device_count()):
        raise ConfigurationError(
            f"the pod requests {num_gpus} GPUs, and torch finds {found}: check the node's device plugin"
        )
    try:
        ones = torch.ones((_SIZE, _SIZE), device=device)
        total = float((ones @ ones).sum().item())
    except RuntimeError as error:  # such as no kernel for this GPU, or a driver that is too old
        reason = str(error).partition("\n")[0]
        raise ConfigurationError(
            f"torch {torch.__version__} cannot compute on {device} ({reason}): build the trainer image for this "
            "GPU and its driver (TORCH_CUDA_INDEX)"
        ) from error
    if total != _SIZE**3:
        raise ConfigurationError(f"{device} computes wrongly: expected {_SIZE**3}, got {total}; replace the device")
    return torch.cuda.get_device_name() if device == "cuda" else "the CPU"


_CPU_MESSAGES = ("can't allocate memory", "not enough memory")
"""Message of torch's allocator on a CPU, which raises no type of its own."""


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether torch or numpy found too little memory, on a device or in the host."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(part in str(error) for part in _CPU_MESSAGES)


@contextmanager
def memory_limited_by(setting: str) -> Iterator[None]:
    """Name ``setting`` where memory runs out.

    Raises:
        ConfigurationError: there is too little memory for the setting.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        message = str(error).partition("\n")[0] or type(error).__name__
        raise ConfigurationError(f"training ran out of memory ({message}): lower {setting}") from error


Precision = Literal["float32", "bfloat16"]


class Forward(Protocol):
    """The network as a loss needs it. ``ActorCritic`` has these methods."""

    def outputs(self, observations: Tensor) -> Outputs:
        """Return all that training learns from, for ``observations`` (B, F)."""

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return logits (B, A) and the prediction of the opponent's choice."""

    def logits(self, observations: Tensor) -> Tensor:
        """Return logits (B, A)."""

    def value_outputs(self, observations: Tensor) -> Tensor:
        """Return the critic's outputs, (B, V)."""


def forward_passes(network: ActorCritic, precision: Precision, graphed_rows: int = 0) -> Forward:
    """Return the forward passes of ``network`` in ``precision``. Outputs are float32.

    ``graphed_rows`` is the most decisions of a minibatch, where each optimiser step has one minibatch; else 0. Then a
    GPU launches each float32 pass of a network that ``is_recordable`` as a whole.
    """
    if precision != "float32":
        return _InBfloat16(network)
    on_gpu = next(network.parameters()).device.type == "cuda"
    return GraphedPasses(network, graphed_rows) if graphed_rows and on_gpu and network.is_recordable else network


class _InBfloat16:
    """Layers compute in bfloat16 by autocast; weights, gradients of weights and losses stay float32."""

    def __init__(self, network: ActorCritic) -> None:
        self._network = network

    def outputs(self, observations: Tensor) -> Outputs:
        with _autocast(observations):
            logits, value_outputs, prediction = self._network.outputs(observations)
        return Outputs(logits.float(), value_outputs.float(), _float32(prediction))

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        with _autocast(observations):
            logits, prediction = self._network.logits_and_prediction(observations)
        return logits.float(), _float32(prediction)

    def logits(self, observations: Tensor) -> Tensor:
        with _autocast(observations):
            return self._network.logits(observations).float()

    def value_outputs(self, observations: Tensor) -> Tensor:
        with _autocast(observations):
            return self._network.value_outputs(observations).float()


def _autocast(observations: Tensor) -> torch.autocast:
    return torch.autocast(observations.device.type, torch.bfloat16)


def _float32(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.float()
