"""What the settings of training and playing ask of the machine, checked before work starts."""

import torch

from nashdex.core.errors import ConfigurationError


def check_player(device: str) -> None:
    """Check that networks can play here on ``device``, ``cpu`` or ``cuda``.

    Raises:
        ConfigurationError: there is no GPU; names the setting.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError(
            "collect.device is 'cuda', and torch finds no CUDA device here; run on a machine that has one, with a "
            'CUDA build of torch, or set collect.device = "cpu"'
        )


def check_machine(device: str, *, num_processes: int = 1) -> None:
    """Check that ``num_processes`` processes can train here on ``device``, ``cpu`` or ``cuda``.

    Raises:
        ConfigurationError: GPUs are missing; names the settings.
    """
    if device == "cuda":
        if not torch.cuda.is_available():
            raise ConfigurationError(
                "train.device is 'cuda', and torch finds no CUDA device here; run on a machine that has one, with a "
                'CUDA build of torch, or set train.device = "cpu"'
            )
        if num_processes > (found := torch.cuda.device_count()):
            raise ConfigurationError(
                f"train.num_processes is {num_processes} and train.device 'cuda', one GPU for each process, and torch "
                f"finds {found} here; expected at most {found} processes, or a machine with {num_processes} GPUs"
            )
