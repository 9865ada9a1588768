"""Imported policies of a store, ready to play under their ids."""

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.store.protocol import ObjectStore
from nashdex_metamon.checkpoints.archive import load_imported
from nashdex_metamon.checkpoints.playing import MemoryPlayer


class ImportedSeats:
    """An imported policy under its id. Implements ``policies.interface.Policy``."""

    needs_lines = True
    needs_state = True

    def __init__(self, policy: PolicyId, player: MemoryPlayer) -> None:
        self.id = policy
        self.view = player.view
        self._player = player

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row."""
        return self._player.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._player.forget(battle, seat)


def load_imported_seats(store: ObjectStore, policy_id: PolicyId, space: Space, device: str = "cpu") -> ImportedSeats:
    """Return a stored imported policy, ready to play in ``space`` as its id says, on the CPU whatever ``device``.

    Raises:
        DataError: it is missing or was altered.
        ConfigurationError: ``space`` is not a Showdown format's.
    """
    del device
    played = PlayedPolicy.of(policy_id)
    return ImportedSeats(policy_id, MemoryPlayer(load_imported(store, played.policy), space, played.temperature))
