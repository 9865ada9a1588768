"""Rewards: what they sum to, and that shaping never changes who is better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.learning.rewards import REWARDS


def _space() -> Space:
    def side(name: str, offset: int) -> ObservationBlock:
        fields = tuple(
            ObservationField(name=field, offset=at, size=1, kind="number") for at, field in enumerate(("present", "hp"))
        )
        return ObservationBlock(name=name, offset=offset, rows=6, stride=2, fields=fields)

    return Space(
        game="showdown",
        format="gen1ou",
        version="test",
        observation_size=24,
        num_actions=1,
        actions=("x",),
        vocabularies={},
        blocks=(side("own", 0), side("opponent", 12)),
    )


def _observations(own: list[float], opponent: list[float]) -> NDArray[np.float32]:
    """Return T observations in which every Pokémon of a side has the same share of HP."""
    observations = np.ones((len(own), 24), dtype=np.float32)
    observations[:, 1:12:2] = np.array(own)[:, None]
    observations[:, 13:24:2] = np.array(opponent)[:, None]
    return observations


@pytest.mark.parametrize(("score", "last"), [(1.0, 1.0), (0.5, 0.0), (0.0, -1.0)])
def test_win_loss_comes_with_the_last_decision_alone(score: float, last: float) -> None:
    got = REWARDS["win-loss"].compute(_space(), _observations([1, 1, 1], [1, 1, 1]), score, 1.0)
    np.testing.assert_array_equal(got, [0, 0, last])


def test_shaping_pays_for_the_lead_that_was_gained() -> None:
    got = REWARDS["shaped"].compute(_space(), _observations([1, 1, 0.5], [1, 0.5, 0.5]), 1.0, 1.0)
    np.testing.assert_allclose(got, [0.25, -0.25, 1.0], atol=1e-6)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.floats(0.9, 1.0),
)
def test_the_shaped_return_differs_by_the_first_potential_alone(
    leads: list[tuple[float, float]], score: float, discount: float
) -> None:
    """The difference of the discounted returns is −Φ(s₀), the same for every way to play on: nothing to exploit."""
    observations = _observations([own for own, _ in leads], [opponent for _, opponent in leads])
    weights = discount ** np.arange(len(leads))
    plain = float(weights @ REWARDS["win-loss"].compute(_space(), observations, score, discount))
    shaped = float(weights @ REWARDS["shaped"].compute(_space(), observations, score, discount))
    assert shaped - plain == pytest.approx(-0.5 * (leads[0][0] - leads[0][1]), abs=1e-4)


def test_a_short_team_counts_as_a_whole_one() -> None:
    observations = _observations([1, 1], [1, 1])
    observations[:, 14::2] = 0  # the opponent's rows 1 to 5: hp 0 …
    observations[:, 15::2] = 0
    observations[:, 14:24:2] = 0  # … and not present
    got = REWARDS["shaped"].compute(_space(), observations, 0.5, 1.0)
    np.testing.assert_allclose(got, [0, 0], atol=1e-6)


def test_no_decisions_no_rewards() -> None:
    assert REWARDS["win-loss"].compute(_space(), np.zeros((0, 24), dtype=np.float32), 1.0, 1.0).shape == (0,)


def test_a_reward_says_which_games_have_it() -> None:
    assert [name for name in ("win-loss", "shaped") if REWARDS[name].fits("tabular", 1)] == ["win-loss"]
    assert [name for name in ("win-loss", "shaped") if REWARDS[name].fits("showdown", 2)] == ["win-loss", "shaped"]
