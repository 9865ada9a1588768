"""Spaces of Pokémon and moves, like Showdown's and much smaller, and battles in one of them."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.legal import LegalActions
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.trajectory.episode import Episode

ACTIONS = ("switch 1", "switch 2", "switch 3", "move 1", "move 2")

Fields = Mapping[str, tuple[int, str | None]]
"""Size and vocabulary (None: numbers) of each field of a block."""


def battle_space() -> Space:
    """Return a space of two sides of three Pokémon with two moves each."""
    pokemon: Fields = {"active": (1, None), "species": (1, "species"), "hp": (1, None)}
    move: Fields = {"move": (1, "move"), "power": (1, None)}
    blocks = [
        ("own", 3, pokemon),
        ("opponent", 3, pokemon),
        ("own_moves", 6, move),
        ("opponent_moves", 6, move),
        ("field", 1, {"force_switch": (1, None), "turn": (1, None)}),
    ]
    return space_of(blocks, ACTIONS, {"species": 5, "move": 7})


def space_of(
    blocks: Sequence[tuple[str, int, Fields]],
    actions: tuple[str, ...],
    vocabularies: Mapping[str, int],
    num_slots: Literal[1, 2] = 1,
) -> Space:
    """Return a space of ``blocks``, each a name, a number of rows and their fields."""
    made: list[ObservationBlock] = []
    for name, rows, fields in blocks:
        offset = made[-1].offset + made[-1].rows * made[-1].stride if made else 0
        made.append(_block(name, offset, rows, fields))
    return Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=made[-1].offset + made[-1].rows * made[-1].stride,
        num_actions=len(actions) ** num_slots,
        actions=actions,
        num_slots=num_slots,
        vocabularies=dict(vocabularies),
        blocks=tuple(made),
    )


def _block(name: str, offset: int, rows: int, fields: Fields) -> ObservationBlock:
    made: list[ObservationField] = []
    at = 0
    for field, (size, vocabulary) in fields.items():
        kind = "category" if vocabulary else "number"
        made.append(ObservationField(name=field, offset=at, size=size, kind=kind, vocabulary=vocabulary))
        at += size
    return ObservationBlock(name=name, offset=offset, rows=rows, stride=at, fields=tuple(made))


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
        observations=random_observations(battle_space(), num_turns, rng),
        legal=LegalActions.of_mask(np.ones((num_turns, len(ACTIONS)), dtype=np.bool_)),
        actions=rng.integers(0, len(ACTIONS), num_turns),
        log_probs=np.full(num_turns, -np.log(len(ACTIONS)), dtype=np.float32),
    )


def random_observations(
    space: Space, num: int, rng: np.random.Generator, *, forced_switches: float = 0.0
) -> NDArray[np.float32]:
    """Return ``num`` observations with one active Pokémon on each side, this share of them with a forced switch."""
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
                view[...] = rng.random(view.shape) < forced_switches if forced_switches else 0
    return values


def with_rows(space: Space, observations: NDArray[np.float32], block: str, rows: Sequence[int]) -> NDArray[np.float32]:
    """Return a copy in which the rows of ``block`` are those that ``rows`` names, in that order."""
    found = observations.copy()
    part = next(part for part in space.blocks if part.name == block)
    columns = slice(part.offset, part.offset + part.rows * part.stride)
    found[:, columns] = found[:, columns].reshape(len(found), part.rows, -1)[:, list(rows)].reshape(len(found), -1)
    return found


def with_team(space: Space, observations: NDArray[np.float32], team: Sequence[int]) -> NDArray[np.float32]:
    """Return a copy in which own Pokémon and their two moves are those of the rows in ``team``, and none is active."""
    found = with_rows(space, observations, "own", team)
    found = with_rows(space, found, "own_moves", [2 * row + move for row in team for move in range(2)])
    for field in next(block for block in space.blocks if block.name == "own").fields:
        if field.name.startswith("active"):
            space.view(found, "own", field.name)[...] = 0
    return found
