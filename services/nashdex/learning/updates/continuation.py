"""What training goes on with in the next iteration, where the weights do: Adam's moments and the controllers.

Without Adam's moments, the first hundreds of updates of every iteration would be as large as those of a new network.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.manifest import Manifest
from nashdex.learning.damping.controller import ControllerState
from nashdex.policies.archive import tensors_bytes
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore

OPTIMISER: Final = "optimiser.safetensors"
CONTROLLERS: Final = "controllers.json"
"""Objects of an attempt at the train step."""


class _Controllers(Document):
    """The states of the controllers, by what they multiply."""

    controllers: dict[str, ControllerState]


@dataclass(frozen=True)
class Continuation:
    """The state that belongs to the weights of a finished training."""

    optimiser: Mapping[str, Tensor]
    """Adam's state: PARAMETER/KEY, such as ``actor.weight/exp_avg``."""
    controllers: Mapping[str, ControllerState]

    def objects(self) -> dict[str, bytes]:
        """Return what ``read`` reads, by name."""
        document = _Controllers(controllers=dict(self.controllers))
        return {OPTIMISER: tensors_bytes(self.optimiser), CONTROLLERS: document.to_json()}

    @classmethod
    def read(cls, store: ObjectStore, manifest: Manifest) -> "Continuation | None":
        """Return what a training left; None if it left nothing.

        Raises:
            DataError: it is missing, altered or damaged.
        """
        if OPTIMISER not in manifest.objects:
            return None
        try:
            optimiser = safetensors.load(read_object(store, manifest, OPTIMISER))
        except SafetensorError as error:
            raise DataError(f"{manifest.objects[OPTIMISER].key} is not safetensors: {error}") from error
        controllers = _Controllers.from_json(
            read_object(store, manifest, CONTROLLERS), manifest.objects[CONTROLLERS].key
        )
        return cls(optimiser, controllers.controllers)
