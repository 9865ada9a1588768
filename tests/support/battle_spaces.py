"""A space of Pokémon and moves, like Showdown's and much smaller, and battles in it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.trajectory.episode import Episode

ACTIONS = ("switch 1", "switch 2", "switch 3", "move 1", "move 2")


def battle_space() -> Space:
    """Return a space of two sides of three Pokémon with two moves each."""
    pokemon: dict[str, str | None] = {"active": None, "species": "species", "hp": None}
    move: dict[str, str | None] = {"move": "move", "power": None}
    blocks: list[ObservationBlock] = []
    for name, rows, fields in (
        ("own", 3, pokemon),
        ("opponent", 3, pokemon),
        ("own_moves", 6, move),
        ("opponent_moves", 6, move),
        ("field", 1, {"force_switch": None, "turn": None}),
    ):
        offset = blocks[-1].offset + blocks[-1].rows * blocks[-1].stride if blocks else 0
        blocks.append(_block(name, offset, rows, fields))
    return Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=blocks[-1].offset + blocks[-1].stride,
        num_actions=len(ACTIONS),
        actions=ACTIONS,
        vocabularies={"species": 5, "move": 7},
        blocks=tuple(blocks),
    )


def _block(name: str, offset: int, rows: int, fields: Mapping[str, str | None]) -> ObservationBlock:
    made = tuple(
        ObservationField(
            name=field, offset=at, size=1, kind="category" if vocabulary else "number", vocabulary=vocabulary
        )
        for at, (field, vocabulary) in enumerate(fields.items())
    )
    return ObservationBlock(name=name, offset=offset, rows=rows, stride=len(made), fields=made)


def battle(seed: int, policies: tuple[PolicyId, PolicyId], num_turns: int = 4) -> tuple[Episode, Episode]:
    """Return both seats of a battle of random decisions, without forced switches. Seat 0 wins."""
    return (_episode(seed, 0, policies, num_turns), _episode(seed, 1, policies, num_turns))


def _episode(seed: int, seat: int, policies: tuple[PolicyId, PolicyId], num_turns: int) -> Episode:
    rng = np.random.default_rng([seed, seat])
    return Episode(
        seed=seed,
        seat=seat,
        policy=policies[seat],
        opponent=policies[1 - seat],
        score=1.0 - seat,
        observations=_observations(num_turns, rng),
        masks=np.ones((num_turns, len(ACTIONS)), dtype=np.bool_),
        actions=rng.integers(0, len(ACTIONS), num_turns),
        log_probs=np.full(num_turns, -np.log(len(ACTIONS)), dtype=np.float32),
    )


def _observations(num: int, rng: np.random.Generator) -> NDArray[np.float32]:
    space = battle_space()
    values = rng.normal(size=(num, space.observation_size)).astype(np.float32)
    for part in space.blocks:
        for field in part.fields:
            view = space.view(values, part.name, field.name)
            if field.vocabulary:
                view[...] = rng.integers(0, space.vocabularies[field.vocabulary], view.shape)
            if field.name == "active":
                view[...] = 0
                view[np.arange(num), rng.integers(0, part.rows, num), 0] = 1
            if field.name == "force_switch":
                view[...] = 0
    return values
