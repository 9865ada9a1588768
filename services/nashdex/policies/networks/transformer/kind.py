"""The entity transformer as an entry of the registry. Imports no torch."""

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.networks.settings import NetworkKind
from nashdex.policies.networks.transformer.settings import TransformerSettings

TRANSFORMER = NetworkKind(
    TransformerSettings,
    "transformer-1",
    "nashdex.policies.networks.transformer.network:TransformerNetwork",
    games=frozenset({SHOWDOWN}),
)
