"""The space: its blocks and fields must tile, its fingerprint follows what matters."""

import numpy as np
import pytest
from pydantic import ValidationError

from nashdex.games.space import Space
from support.spaces import tiny_space


def test_a_field_is_a_view_on_the_observation() -> None:
    space = tiny_space()
    observations = np.arange(2 * space.observation_size, dtype=np.float32).reshape(2, -1)
    view = space.view(observations, "own", "hp")
    assert view.shape == (2, 2, 1)
    np.testing.assert_array_equal(view[0, :, 0], [1, 3])
    view[...] = -1
    assert observations[1, 1] == -1


@pytest.mark.parametrize("change", [{"offset": 1}, {"rows": 3}, {"stride": 3}])
def test_blocks_that_do_not_tile_are_refused(change: dict[str, int]) -> None:
    values = tiny_space().model_dump()
    values["blocks"][0].update(change)
    with pytest.raises(ValidationError):
        Space.model_validate(values)


def test_the_fingerprint_ignores_descriptions_and_nothing_else() -> None:
    space = tiny_space()
    values = space.model_dump()
    values["blocks"][0]["fields"][0]["description"] = "other words"
    assert Space.model_validate(values).fingerprint == space.fingerprint
    for change in ({"version": "9"}, {"format": "other"}, {"actions": ("a", "c")}, {"vocabularies": {"species": 6}}):
        assert Space.model_validate(space.model_dump() | change).fingerprint != space.fingerprint
