"""``policy.json``: what a stored policy says of itself, and how its id follows from its content."""

import hashlib
import json
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from nashdex.core.documents import Document
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.settings import NetworkSettings
from nashdex.games.interface import Reward
from nashdex.games.space import Space


class PolicyDocument(Document):
    """A network policy. ``weights.safetensors`` lies beside it."""

    id: PolicyIdField
    kind: Literal["network"] = "network"
    name: str = Field(description="For people, such as 'best response 3'.")
    format: str
    space: Space = Field(description="What it was trained to see and do; it plays in no other.")
    architecture: str
    network: NetworkSettings
    parent: PolicyIdField | None = Field(description="Whose weights its training began from.")
    iteration: NonNegativeInt
    oracle: str = Field(description="How it was trained, such as clone or ppo.")
    reward: Reward = Field(description="What it was trained to maximise.")
    reward_version: str
    num_parameters: PositiveInt
    weights_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    weights_bytes: PositiveInt

    def content_id(self) -> PolicyId:
        """Return the id that the content has: equal for policies that are equal in all that decides their play."""
        content = {
            "weights": self.weights_sha256,
            "architecture": self.architecture,
            "network": self.network.model_dump(mode="json"),
            "space": self.space.fingerprint,
            "reward": [self.reward, self.reward_version],
            "format": self.format,
        }
        text = json.dumps(content, sort_keys=True)
        return PolicyId("p" + hashlib.sha256(text.encode()).hexdigest()[:16])
