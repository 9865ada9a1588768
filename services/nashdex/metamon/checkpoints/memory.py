"""Memory of the seats that a network plays: one slot for each (battle, seat), in tensors that grow on demand."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

Memory: TypeAlias = dict[str, Tensor]
"""By name, shape (slots, …)."""
Seat: TypeAlias = tuple[int, int]
"""Battle and seat."""
_FIRST_SLOTS = 16


class MemoryNetwork(Protocol):
    """A network that remembers a battle's decisions. This is the whole interface."""

    @property
    def uses_previous(self) -> bool:
        """Whether it reads the previous action and reward."""

    def memory_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of one seat's memory by name. It is zero at a battle's start."""

    def step(self, tokens: Tensor, numbers: Tensor, previous: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of N seats' next decisions, shape (N, A), and update the memory of their ``slots``.

        ``tokens`` (N, W), ``numbers`` (N, F); ``previous`` (N, 1 + A): the last reward, then the last action
        as one-hot.
        """


class SeatMemory:
    """Gives each seat a slot, and takes it back when the seat's battle ends."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._shapes = dict(shapes)
        self._slot_of: dict[Seat, int] = {}
        self._free: list[int] = []
        self.tensors: Memory = {name: torch.zeros(0, *shape) for name, shape in self._shapes.items()}
        self._grow(_FIRST_SLOTS)

    def __len__(self) -> int:
        """Return the number of seats that have a slot."""
        return len(self._slot_of)

    def __contains__(self, seat: Seat) -> bool:
        """Say whether a seat has a slot: whether it has decided before."""
        return seat in self._slot_of

    def slots(self, seats: Iterable[Seat]) -> Tensor:
        """Return the slot of each seat, shape (N,). A new seat's memory is zero."""
        return torch.tensor([self._slot(seat) for seat in seats], dtype=torch.int64)

    def forget(self, seat: Seat) -> None:
        """Free a seat's slot, if it has one."""
        slot = self._slot_of.pop(seat, None)
        if slot is not None:
            self._free.append(slot)

    def _slot(self, seat: Seat) -> int:
        slot = self._slot_of.get(seat)
        if slot is None:
            if not self._free:
                self._grow(len(self._slot_of))
            slot = self._slot_of[seat] = self._free.pop()
            for tensor in self.tensors.values():
                tensor[slot] = 0
        return slot

    def _grow(self, added: int) -> None:
        size = len(self._slot_of) + len(self._free)
        for name, shape in self._shapes.items():
            self.tensors[name] = torch.cat((self.tensors[name], torch.zeros(added, *shape)))
        self._free += range(size + added - 1, size - 1, -1)
