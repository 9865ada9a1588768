"""Which networks there are, and the settings of the one that a run uses. Imports no torch."""

from dataclasses import dataclass
from typing import Annotated

from nashdex.core.plugins import OneOf, Registry
from nashdex.core.section import Section


class NetworkSettings(Section):
    """Sizes of a network. Each kind of network has its own section."""

    kind: str


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


NETWORKS: Registry[NetworkKind] = Registry(
    "nashdex.networks",
    "network",
    NetworkKind,
    {
        "slots": "nashdex.policies.networks.slots.settings:SLOTS",
        "pointer": "nashdex.policies.networks.pointer.kind:POINTER",
        "pairs": "nashdex.policies.networks.pairs.settings:PAIRS",
        "memory": "nashdex.policies.networks.memory.kind:MEMORY",
    },
)

NetworkChoice = Annotated[NetworkSettings, OneOf(NETWORKS, "slots")]
"""The section of one network, chosen by its key ``kind``."""
