"""Situations of a seat's decisions, from observations of Showdown's layout."""

import numpy as np

from nashdex.games.showdown.game import ShowdownGame
from nashdex.games.space import ObservationBlock, ObservationField, Space


def space() -> Space:
    """Return the fields that situations are read from, in Showdown's blocks: three Pokémon and the field."""
    species = ObservationField(name="species", offset=0, size=1, kind="category", vocabulary="species")
    names = ("turn", "own_left", "opponent_left")
    field = tuple(ObservationField(name=name, offset=i, size=1, kind="number") for i, name in enumerate(names))
    return Space(
        game="showdown",
        format="gen1ou",
        version="1",
        observation_size=6,
        num_actions=2,
        actions=("a", "b"),
        vocabularies={"species": 150},
        blocks=(
            ObservationBlock(name="own", offset=0, rows=3, stride=1, fields=(species,)),
            ObservationBlock(name="field", offset=3, rows=1, stride=3, fields=field),
        ),
    )


def test_turn_team_and_pokemon_left_are_read_from_the_observations() -> None:
    rows = [(103, 7, 20, 0.01, 1, 1), (103, 7, 20, 0.12, 5 / 6, 1), (7, 103, 20, 0.57, 4 / 6, 1 / 6)]
    found = ShowdownGame("gen1ou").situations(space(), np.array(rows, np.float32))
    assert found.team == "7,20,103"
    assert found.turns.tolist() == [1, 12, 57]
    assert found.faint_differences.tolist() == [0, -1, 3]
