"""A check that torch computes on a device, before a run depends on it."""

import torch

from nashdex.core.errors import ConfigurationError

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
