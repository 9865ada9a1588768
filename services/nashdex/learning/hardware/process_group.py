"""Processes on one machine that compute gradients together: the connection between them.

Process 0 trains. The others compute what it sends, step by step, and keep nothing: they may be killed at any moment.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import torch
from torch import Tensor, distributed

from nashdex.core.errors import TryAgainError

_PATIENCE: Final = timedelta(days=7)
"""Longest wait for a message. Process 0 may wait for battles, and no timeout is needed to notice a process's end."""
_TENSORS = "tensors"


class ProcessGroup:
    """One process's end of the connection. Use as a context manager.

    On CPUs everything goes through gloo. With GPUs, what is on them goes through NCCL.

    Args:
        meeting_place: a file that does not exist yet, the same one for all.
        rank: of this process, from 0.
        size: how many processes there are.
        device: that this process computes on.
    """

    def __init__(self, meeting_place: Path, rank: int, size: int, device: torch.device) -> None:
        self.rank = rank
        self.size = size
        on_gpu = device.type == "cuda"
        # All are on this machine, and nobody else can connect.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
        distributed.init_process_group(
            "cpu:gloo,cuda:nccl" if on_gpu else "gloo",
            init_method=meeting_place.resolve().as_uri(),
            rank=rank,
            world_size=size,
            timeout=_PATIENCE,
            device_id=device if on_gpu else None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        distributed.destroy_process_group()

    def send(self, header: Mapping[str, Any], tensors: Sequence[Tensor] = ()) -> None:
        """Send a JSON object and tensors in the host's memory from process 0 to the others."""
        described = [{"dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape)} for t in tensors]
        text = json.dumps({**header, _TENSORS: described}).encode()
        _broadcast(torch.tensor([len(text)]))
        _broadcast(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        for tensor in tensors:
            if tensor.numel():
                _broadcast(_bytes_of(tensor.contiguous()))

    def receive(self) -> tuple[dict[str, Any], list[Tensor]]:
        """Return what process 0 sends next."""
        length = torch.zeros(1, dtype=torch.int64)
        _broadcast(length)
        text = torch.empty(int(length), dtype=torch.uint8)
        _broadcast(text)
        header: dict[str, Any] = json.loads(text.numpy().tobytes())
        tensors = []
        for described in header.pop(_TENSORS):
            tensor = torch.empty(described["shape"], dtype=getattr(torch, described["dtype"]))
            if tensor.numel():
                _broadcast(_bytes_of(tensor))
            tensors.append(tensor)
        return header, tensors

    @torch.no_grad()
    def share(self, tensors: Sequence[Tensor]) -> None:
        """Give all processes the float32 ``tensors`` of process 0, on the device, in one message."""
        if not tensors:
            return
        joined = torch.cat([tensor.detach().flatten() for tensor in tensors])
        _broadcast(joined)
        if self.rank:
            for tensor, part in zip(tensors, torch.split(joined, [t.numel() for t in tensors]), strict=True):
                tensor.detach().copy_(part.view_as(tensor))

    def add_up(self, values: Tensor) -> Tensor:
        """Return the sum of ``values`` over all processes, in place."""
        with _others_live():
            distributed.all_reduce(values)
        return values


def _broadcast(tensor: Tensor) -> None:
    with _others_live():
        distributed.broadcast(tensor, 0)


@contextmanager
def _others_live() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise TryAgainError(
            f"another process of this training ended ({reason}); its message, if it left one, is above. Run the same "
            "command again to continue from the checkpoint"
        ) from error


def _bytes_of(tensor: Tensor) -> Tensor:
    return tensor.view(-1).view(torch.uint8)
