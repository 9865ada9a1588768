"""Gymnasium's space of what a view shows."""

from typing import Any, Final

import numpy as np
from gymnasium import spaces

_MOST_CHARACTERS: Final = 1 << 20


class Texts(spaces.Text):
    """Texts of any characters: people's Pokémon have names of all kinds."""

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - the base class's signature
        """Say whether ``x`` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


def space_of(observation: Any) -> spaces.Space[Any]:  # noqa: ANN401 - as views.nothing() returns it
    """Return the space of observations like ``observation``: a text, an array, or a dictionary of them."""
    if isinstance(observation, dict):
        return spaces.Dict({name: space_of(part) for name, part in observation.items()})
    if isinstance(observation, str):
        return Texts(_MOST_CHARACTERS, min_length=0)
    kind = np.asarray(observation).dtype
    if np.issubdtype(kind, np.floating):
        return spaces.Box(-np.inf, np.inf, np.shape(observation), kind.type)
    bounds = np.iinfo(kind)
    return spaces.Box(bounds.min, bounds.max, np.shape(observation), kind.type)
