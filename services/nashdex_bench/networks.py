"""The networks that benchmarks measure."""

from nashdex.games.space import Space
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.settings.networks import NetworkSettings, PointerPairsSettings, SlotsSettings

_HEAD = "predicts_opponent"


def default_network(space: Space) -> NetworkSettings:
    """Return the default settings of the plainest network that fits the space."""
    return SlotsSettings() if space.num_slots == 1 else PointerPairsSettings()


def smallest_network() -> NetworkSettings:
    """Return settings of a network that costs next to nothing to train, where all else is measured."""
    return SlotsSettings(embedding_size=2, entity_size=4, hidden_size=8, num_hidden_layers=1, critic_size=8)


def network_settings(kind: str) -> NetworkSettings:
    """Return the default settings of ``kind``, with its head that predicts the opponent's choice if it can have one.

    Raises:
        ConfigurationError: there is no such kind.
    """
    settings = NETWORKS[kind].settings
    return settings.model_validate({_HEAD: True} if _HEAD in settings.model_fields else {})
