"""The memory network as an entry of the registry. Imports no torch."""

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.networks.memory.settings import MemorySettings
from nashdex.policies.networks.settings import NetworkKind

MEMORY = NetworkKind(
    MemorySettings,
    "memory-2",
    "nashdex.policies.networks.memory.network:MemoryNetwork",
    games=frozenset({SHOWDOWN}),
)
