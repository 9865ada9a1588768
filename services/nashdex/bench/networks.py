"""The networks that benchmarks measure."""

from nashdex.policies.networks.settings import NETWORKS, NetworkSettings

_HEAD = "predicts_opponent"


def network_settings(kind: str) -> NetworkSettings:
    """Return the default settings of ``kind``, with its head that predicts the opponent's choice if it can have one.

    Raises:
        ConfigurationError: there is no such kind.
    """
    settings = NETWORKS[kind].settings
    return settings.model_validate({_HEAD: True} if _HEAD in settings.model_fields else {})
