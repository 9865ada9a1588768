"""Metamon's rewards of observations are those of its states."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.learning.rewards import REWARDS
from nashdex_metamon.rewards import reward_function
from nashdex_metamon.state import BattleState
from support.metamon_goldens import BATTLES, golden


def _battle_space() -> Space:
    def block(name: str, offset: int, rows: int, fields: dict[str, int]) -> ObservationBlock:
        made: list[ObservationField] = []
        for field, size in fields.items():
            at = sum(one.size for one in made)
            made.append(ObservationField(name=field, offset=at, size=size, kind="number"))
        return ObservationBlock(name=name, offset=offset, rows=rows, stride=sum(fields.values()), fields=tuple(made))

    side = {"present": 1, "active": 1, "fainted": 1, "hp": 1, "status": 6}
    return Space(
        game="showdown",
        format="gen1ou",
        version="test",
        observation_size=122,
        num_actions=1,
        actions=("x",),
        vocabularies={},
        blocks=(
            block("own", 0, 6, side),
            block("opponent", 60, 6, side),
            block("field", 120, 1, {"team_preview": 1, "reviving": 1}),
        ),
    )


def _observed(state: BattleState, rows: dict[str, list[str]]) -> NDArray[np.float32]:
    """Return the observation of one of metamon's states; ``rows`` keeps the species of each side in order.

    States do not say which of the opponent's Pokémon fainted, but how many: any others than the active one serve.
    """
    space = _battle_space()
    observation = np.zeros((1, 122), np.float32)
    space.view(observation, "own", "fainted")[0] = 1
    foe = state.opponent_active_pokemon
    for side, active, bench in (
        ("own", state.player_active_pokemon, state.available_switches),
        ("opponent", foe, ()),
    ):
        space.view(observation, side, "present")[0] = 1
        for pokemon in (active, *bench):
            if pokemon.base_species not in rows[side]:
                rows[side].append(pokemon.base_species)
            row = rows[side].index(pokemon.base_species)
            space.view(observation, side, "active")[0, row] = pokemon is active
            space.view(observation, side, "hp")[0, row] = pokemon.hp_pct
            space.view(observation, side, "fainted")[0, row] = pokemon.status == "fnt"
            space.view(observation, side, "status")[0, row, 0] = pokemon.status not in {"nostatus", "fnt"}
    others = [row for row in range(6) if row != rows["opponent"].index(foe.base_species)]
    num_fainted = 6 - state.opponents_remaining - (foe.status == "fnt")
    space.view(observation, "opponent", "fainted")[0, others[:num_fainted]] = 1
    return observation


@pytest.mark.parametrize("battle", [name for name in BATTLES if name.startswith(("gen1", "gen2"))])
@pytest.mark.parametrize(
    ("kind", "name"), [("metamon-default", "DefaultShapedReward"), ("metamon-aggressive", "AggressiveShapedReward")]
)
def test_rewards_of_metamon_are_those_of_its_states(battle: str, kind: str, name: str) -> None:
    """Its own functions of its own states, which the goldens of its code check, over whole battles."""
    function = reward_function(name)
    for seat in (0, 1):
        states = [
            BattleState.from_json(row["state"])
            for row in golden("spaces", battle)["decisions"]
            if row["seat"] == seat and not row["end"]
        ]
        rows: dict[str, list[str]] = {"own": [], "opponent": []}
        observations = np.concatenate([_observed(state, rows) for state in states])
        found = REWARDS[kind].compute(_battle_space(), observations, 1.0, 1.0)
        expected = [function(before, after) / 100 for before, after in itertools.pairwise(states)]
        np.testing.assert_allclose(found[:-1], expected, atol=1e-6)
        assert np.abs(found[:-1]).max() > 0


@pytest.mark.parametrize(
    ("kind", "outcomes"),
    [("metamon-default", [1, 0, -1]), ("metamon-aggressive", [2, 0, 0]), ("metamon-binary", [1, 0, -1])],
)
def test_outcomes_of_metamons_rewards(kind: str, outcomes: list[float]) -> None:
    observations = np.zeros((1, 122), np.float32)
    found = [REWARDS[kind].compute(_battle_space(), observations, score, 1.0).tolist() for score in (1.0, 0.5, 0.0)]
    assert found == [[outcome] for outcome in outcomes]


def test_team_preview_is_no_decision_of_metamon() -> None:
    observations = np.zeros((3, 122), np.float32)
    space = _battle_space()
    for side in ("own", "opponent"):
        space.view(observations, side, "present")[...] = 1
        space.view(observations, side, "hp")[...] = 1
        space.view(observations, side, "active")[:, 0] = 1
    space.view(observations, "opponent", "hp")[1:, 0] = 0.75
    assert REWARDS["metamon-default"].compute(space, observations, 1.0, 1.0).tolist() == [np.float32(0.0025), 0, 1]
    space.view(observations, "field", "team_preview")[0] = 1
    assert REWARDS["metamon-default"].compute(space, observations, 1.0, 1.0).tolist() == [0, 0, 1]


def test_metamons_rewards_are_for_single_battles() -> None:
    observations = np.zeros((2, 122), np.float32)
    _battle_space().view(observations, "own", "active")[:, :2] = 1
    with pytest.raises(ConfigurationError, match="expected the reward win-loss or shaped"):
        REWARDS["metamon-default"].compute(_battle_space(), observations, 1.0, 1.0)
