"""Whether this machine has the GPUs that settings ask for. Settings without a GPU need no torch."""

from types import ModuleType

from nashdex.core.errors import ConfigurationError
from nashdex.core.extras import required


def check_cuda(device: str, setting: str, remedy: str) -> None:
    """Check that torch finds a GPU here if ``device`` is ``cuda``; ``setting`` asks for it, ``remedy`` undoes that.

    Raises:
        ConfigurationError: there is none.
    """
    if device == "cuda" and not _cuda().is_available():
        raise ConfigurationError(
            f"{setting} is 'cuda', and torch finds no CUDA device here; run on a machine that has one, with a CUDA "
            f"build of torch, or {remedy}"
        )


def check_player(device: str) -> None:
    """Check that networks can play here on ``device``, ``cpu`` or ``cuda``.

    Raises:
        ConfigurationError: there is no GPU; names the setting.
    """
    check_cuda(device, "collect.device", 'set collect.device = "cpu"')


def check_machine(device: str, *, num_processes: int = 1) -> None:
    """Check that ``num_processes`` processes can train here on ``device``, ``cpu`` or ``cuda``.

    Raises:
        ConfigurationError: GPUs are missing; names the settings.
    """
    check_cuda(device, "train.device", 'set train.device = "cpu"')
    if device == "cuda" and num_processes > (found := _cuda().device_count()):
        raise ConfigurationError(
            f"train.num_processes is {num_processes} and train.device 'cuda', one GPU for each process, and torch "
            f"finds {found} here; expected at most {found} processes, or a machine with {num_processes} GPUs"
        )


def _cuda() -> ModuleType:
    cuda: ModuleType = required("torch.cuda:", extra="local", needed_by="a GPU")
    return cuda
