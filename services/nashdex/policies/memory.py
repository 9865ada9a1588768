"""What networks remember of battles: one slot for each (battle, seat), in tensors that grow on demand.

Shapes: N rows, one decision of one seat each; A actions.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias, runtime_checkable

import torch
from torch import Tensor

Memory: TypeAlias = dict[str, Tensor]
"""By name, shape (slots, …)."""
Seat: TypeAlias = tuple[int, int]
"""Battle and seat."""
Inputs: TypeAlias = Mapping[str, Tensor]
"""What a network reads of N decisions, by name, shape (N, …)."""
_FIRST_SLOTS = 16


@runtime_checkable
class RememberingNetwork(Protocol):
    """A network that remembers a battle's earlier decisions, as it acts. This is the whole interface."""

    def memory_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of one seat's memory by name. It is zero at a battle's start."""

    def rewind(self, memory: Memory, slots: Tensor) -> None:
        """Undo the last step of ``slots``: its answers were rejected, and the decision is asked for again."""

    def step(self, inputs: Inputs, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of N seats' next decisions, shape (N, A), and update the memory of their ``slots``.

        The slots differ from each other. No gradient is needed.
        """


class SeatMemory:
    """Gives each seat a slot, and takes it back when the seat's battle ends."""

    def __init__(self, network: RememberingNetwork) -> None:
        self._network = network
        self._shapes = dict(network.memory_shapes())
        self._slot_of: dict[Seat, int] = {}
        self._free: list[int] = []
        self._tensors: Memory = {name: torch.zeros(0, *shape) for name, shape in self._shapes.items()}
        self._grow(_FIRST_SLOTS)

    def __len__(self) -> int:
        """Return the number of seats that have a slot."""
        return len(self._slot_of)

    def __contains__(self, seat: Seat) -> bool:
        """Say whether a seat has a slot: whether it has decided before."""
        return seat in self._slot_of

    def step(self, inputs: Inputs, seats: Iterable[Seat], asked_again: Iterable[bool]) -> Tensor:
        """Return the logits of ``seats``' next decisions, shape (N, A). A new seat's memory is zero.

        Where a decision is ``asked_again``, the network forgets that it answered it before.
        """
        seats = list(seats)
        known = zip(seats, asked_again, strict=True)
        rejected = [self._slot_of[seat] for seat, again in known if again and seat in self._slot_of]
        with torch.inference_mode():
            if rejected:
                self._network.rewind(self._tensors, torch.tensor(rejected))
            # Slots first: a new one may need larger tensors.
            slots = torch.tensor([self._slot(seat) for seat in seats], dtype=torch.int64)
            return self._network.step(inputs, self._tensors, slots)

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
            for tensor in self._tensors.values():
                tensor[slot] = 0
        return slot

    def _grow(self, added: int) -> None:
        size = len(self._slot_of) + len(self._free)
        for name, shape in self._shapes.items():
            self._tensors[name] = torch.cat((self._tensors[name], torch.zeros(added, *shape)))
        self._free += range(size + added - 1, size - 1, -1)
