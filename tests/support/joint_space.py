"""A small space of two slots, and decisions in it."""

import numpy as np

from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import ObservationBlock, ObservationField, Space

ACTIONS_EACH = 9


def joint_space(actions_each: int = ACTIONS_EACH) -> Space:
    """Return a space of two slots, whose six Pokémon say which slot they are in."""
    own = ObservationBlock(
        name="own",
        offset=0,
        rows=6,
        stride=4,
        fields=(
            ObservationField(name="species", offset=0, size=1, kind="category", vocabulary="species"),
            ObservationField(name="hp", offset=1, size=1, kind="number"),
            ObservationField(name="active_a", offset=2, size=1, kind="number"),
            ObservationField(name="active_b", offset=3, size=1, kind="number"),
        ),
    )
    return Space(
        game="tiny",
        format="tiny doubles",
        version="1",
        observation_size=24,
        num_actions=actions_each**2,
        actions=tuple(f"action {i}" for i in range(actions_each)),
        num_slots=2,
        vocabularies={"species": 12},
        blocks=(own,),
    )


def joint_decisions(num: int, seed: int, actions_each: int = ACTIONS_EACH) -> Decisions:
    """Return decisions of which some have one legal pair, and some many."""
    rng = np.random.default_rng(seed)
    observation = rng.random((num, 6, 4)).astype(np.float32)
    observation[:, :, 0] = rng.integers(0, 12, (num, 6))
    observation[:, :, 2:] = 0
    observation[:, 0, 2] = observation[:, 1, 3] = 1
    mask = rng.random((num, actions_each**2)) < rng.choice([0.0, 0.1, 0.6], size=(num, 1))
    mask[np.arange(num), rng.integers(0, actions_each**2, num)] = True
    again = np.zeros(num, np.bool_)
    legal = LegalActions.of_mask(mask)
    return Decisions(np.arange(num), np.zeros(num, np.int8), again, observation.reshape(num, -1), legal)
