"""Settings of the pairs network."""

from typing import Literal

from pydantic import Field

from nashdex.policies.networks.settings import NetworkKind
from nashdex.policies.networks.slots.settings import RowSettings


class PairsSettings(RowSettings):
    """The slots network with a score for each slot's action, and an interaction of the two."""

    kind: Literal["pairs"] = "pairs"
    interaction_size: int = Field(8, ge=1, le=256, description="Rank of the interaction of two slots' actions.")


PAIRS = NetworkKind(PairsSettings, "pairs-1", "nashdex.policies.networks.pairs.network:PairsNetwork", num_slots=2)
