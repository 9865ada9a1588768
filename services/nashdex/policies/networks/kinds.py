"""Networks by kind: built in, or from installed packages. Imports no torch."""

from dataclasses import dataclass

from nashdex.core.plugins import Registry
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.settings.networks import (
    NETWORK_KINDS,
    MemorySettings,
    NetworkSettings,
    PointerPairsSettings,
    PointerSettings,
    SlotsSettings,
    TransformerSettings,
)


@dataclass(frozen=True)
class NetworkKind:
    """One entry of ``NETWORKS``."""

    settings: type[NetworkSettings]
    architecture: str
    """Part of every policy's id; changes whenever equal weights would compute something else."""
    implementation: str
    """``module:class`` of an ``ActorCritic``, imported when the first such network is made."""
    games: frozenset[str] | None = None
    """Games that it fits, as ``Space.game`` names them; None for all."""
    num_slots: int = 1
    """Slots that one decision of its spaces chooses for."""

    def fits(self, game: str, num_slots: int = 1) -> bool:
        """Say whether it fits spaces of ``num_slots`` of the game that ``Space.game`` names."""
        return (self.games is None or game in self.games) and num_slots == self.num_slots


_HERE = "nashdex.policies.networks"
_SHOWDOWN = frozenset({SHOWDOWN})

SLOTS = NetworkKind(SlotsSettings, "entity-mlp-1", f"{_HERE}.slots:SlotsNetwork")
POINTER = NetworkKind(PointerSettings, "pointer-2", f"{_HERE}.pointer.network:PointerNetwork", games=_SHOWDOWN)
POINTER_PAIRS = NetworkKind(
    PointerPairsSettings,
    "pointer-pairs-2",
    f"{_HERE}.pointer_pairs.network:PointerPairsNetwork",
    games=_SHOWDOWN,
    num_slots=2,
)
MEMORY = NetworkKind(MemorySettings, "memory-2", f"{_HERE}.memory:MemoryNetwork", games=_SHOWDOWN)
TRANSFORMER = NetworkKind(
    TransformerSettings, "transformer-1", f"{_HERE}.transformer:TransformerNetwork", games=_SHOWDOWN
)

NETWORKS: Registry[NetworkKind] = Registry.of(
    NETWORK_KINDS,
    NetworkKind,
    {
        "slots": f"{_HERE}.kinds:SLOTS",
        "pointer": f"{_HERE}.kinds:POINTER",
        "pointer-pairs": f"{_HERE}.kinds:POINTER_PAIRS",
        "memory": f"{_HERE}.kinds:MEMORY",
        "transformer": f"{_HERE}.kinds:TRANSFORMER",
    },
)
