"""Defaults that follow from a run's format."""

from collections.abc import Mapping
from typing import Any, Final

from nashdex.core.section import KIND
from nashdex.games.registry import FORMATS
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.settings.aliases import canonical_format
from nashdex.settings.run import RunSettings

TRAINED_NETWORKS: Final = ("pointer", "pointer-pairs")
"""The first of these that fits a format learns best there."""
_NETWORKS: Final = (*TRAINED_NETWORKS, "slots")
"""The default network is the first of these that fits the format."""


def defaults_of_format(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings that hold where ``values``, not validated yet, have none."""
    network, name = values.get("network", {}), values.get("format", RunSettings.model_fields["format"].default)
    if not isinstance(network, Mapping) or KIND in network:
        return {}
    if not isinstance(name, str) or canonical_format(name) not in FORMATS:
        return {}  # refused later, by name
    played = FORMATS[canonical_format(name)]
    fitting = (n for n in _NETWORKS if NETWORKS[n].fits(played.game, played.num_slots))
    return {"network": {KIND: next(fitting, "slots")}}  # refused later, if none fits
