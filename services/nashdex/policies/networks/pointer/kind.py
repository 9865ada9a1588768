"""The pointer network as an entry of the registry. Imports no torch."""

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.networks.pointer.settings import PointerSettings
from nashdex.policies.networks.settings import NetworkKind

POINTER = NetworkKind(
    PointerSettings,
    "pointer-2",
    "nashdex.policies.networks.pointer.network:PointerNetwork",
    games=frozenset({SHOWDOWN}),
)
