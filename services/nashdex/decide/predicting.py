"""The opponent's predicted choice in words: the network has numbers, and the tracker's state the names.

C choices: moves, then species (``policies.networks.opponent_choices``).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.decide.documents import Predicted
from nashdex.games.space import Space

_UNSEEN: Final = "unseen"


def predicted(
    space: Space, observation: NDArray[np.float32], state: Mapping[str, Any], probabilities: NDArray[np.float64]
) -> tuple[Predicted, ...]:
    """Return the probability (C,) of each choice that the opponent has shown, and of all others as ``unseen``.

    Shown are the moves of its active Pokémon, and the Pokémon that it can switch to.
    """
    shown = {name: float(probabilities[number]) for name, number in _shown(space, observation, state)}
    found = [Predicted(name=name, probability=probability) for name, probability in shown.items()]
    rest = max(0.0, 1.0 - sum(shown.values()))
    return (*sorted(found, key=lambda each: -each.probability), Predicted(name=_UNSEEN, probability=rest))


def _shown(space: Space, observation: NDArray[np.float32], state: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield names and numbers: rows of the observation and of the state are in one order."""
    species = space.view(observation[None], "opponent", "species")[0, :, 0].astype(np.int64)
    moves = space.view(observation[None], "opponent_moves", "move")[0, :, 0].astype(np.int64)
    moves_each = len(moves) // len(species)
    for row, pokemon in enumerate(state["opponent"]["pokemon"][: len(species)]):
        if pokemon["active"]:
            for place, move in enumerate(pokemon["moves"][:moves_each]):
                if number := int(moves[row * moves_each + place]):
                    yield move["id"], number
        elif not pokemon["fainted"] and species[row]:
            yield f"switch {pokemon['species']}", space.vocabularies["move"] + int(species[row])
