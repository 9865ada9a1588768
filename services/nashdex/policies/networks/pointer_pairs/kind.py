"""The pointer-pairs network as an entry of the registry. Imports no torch."""

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.networks.pointer_pairs.settings import PointerPairsSettings
from nashdex.policies.networks.settings import NetworkKind

POINTER_PAIRS = NetworkKind(
    PointerPairsSettings,
    "pointer-pairs-2",
    "nashdex.policies.networks.pointer_pairs.network:PointerPairsNetwork",
    games=frozenset({SHOWDOWN}),
    num_slots=2,
)
