"""Advantage estimators: known answers, and properties that hold for any episode."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from pydantic import ValidationError

from nashdex.learning.advantages import (
    ADVANTAGES,
    GROUP_RELATIVE,
    V_TRACE,
    Circumstances,
    Estimates,
    Trajectory,
    discounted_returns,
    generalised_advantages,
    v_trace,
)
from nashdex.settings.advantages import GaeSettings, GroupRelativeSettings, VTraceSettings

Floats = NDArray[np.float32]
UNBOUNDED = {"rho_bar": 1e6, "c_bar": 1e6, "lam": 1.0}


def floats(*values: float) -> Floats:
    return np.array(values, np.float32)


def episode(
    rewards: Sequence[float],
    values: Sequence[float] | None = None,
    log_ratios: Sequence[float] | None = None,
    circumstances: Circumstances | None = None,
) -> Trajectory:
    """Return an episode; without values or ratios they are 0."""
    nothing = [0.0] * len(rewards)
    return Trajectory(floats(*rewards), floats(*(values or nothing)), floats(*(log_ratios or nothing)), circumstances)


def numbers(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most, width=32)


@st.composite
def episodes(draw: st.DrawFn, *, on_policy: bool = False) -> Trajectory:
    size = draw(st.integers(1, 8))
    ratio = st.just(0.0) if on_policy else numbers(-3, 3)
    rewards, values, log_ratios = (
        draw(st.lists(part, min_size=size, max_size=size)) for part in (numbers(-1, 1), numbers(-1, 1), ratio)
    )
    return episode(rewards, values, log_ratios)


def by_definition(one: Trajectory, discount: float, settings: VTraceSettings) -> Floats:
    """Return the critic's targets by equation 1 of Espeholt et al., term by term."""
    ratios = [math.exp(r) for r in one.log_ratios]
    rho = [min(settings.rho_bar, r) for r in ratios]
    c = [settings.lam * min(settings.c_bar, r) for r in ratios]
    following = [*one.values[1:], 0.0]
    targets = []
    for s in range(len(rho)):
        total = float(one.values[s])
        for t in range(s, len(rho)):
            delta = rho[t] * (one.rewards[t] + discount * following[t] - one.values[t])
            total += discount ** (t - s) * math.prod(c[s:t]) * delta
        targets.append(total)
    return floats(*targets)


@given(episodes(), st.sampled_from([1.0, 0.9]), st.sampled_from([(1.0, 1.0), (2.0, 1.0), (3.0, 0.5)]), numbers(0, 1))
def test_v_trace_is_its_definition(one: Trajectory, discount: float, bars: tuple[float, float], lam: float) -> None:
    settings = VTraceSettings(rho_bar=bars[0], c_bar=bars[1], lam=lam)
    found = V_TRACE.estimate([one], discount, settings)
    assert found.returns is not None
    assert_allclose(found.returns, by_definition(one, discount, settings), rtol=1e-4, atol=1e-4)


@given(episodes(), st.sampled_from([1.0, 0.9]))
def test_v_traces_advantages_are_the_papers_at_lambda_1(one: Trajectory, discount: float) -> None:
    settings = VTraceSettings(lam=1.0)
    found = V_TRACE.estimate([one], discount, settings)
    following = np.append(by_definition(one, discount, settings)[1:], 0.0)
    rho = np.minimum(1.0, np.exp(one.log_ratios))
    assert_allclose(found.advantages, rho * (one.rewards + discount * following - one.values), rtol=1e-4, atol=1e-4)


@given(st.lists(episodes(on_policy=True), min_size=1, max_size=3), st.sampled_from([1.0, 0.9]), numbers(0, 1))
def test_v_trace_on_policy_is_gae(played: list[Trajectory], discount: float, lam: float) -> None:
    corrected = V_TRACE.estimate(played, discount, VTraceSettings(lam=lam))
    plain = ADVANTAGES["gae"].estimate(played, discount, GaeSettings(lam=lam))
    assert corrected.returns is not None
    assert plain.returns is not None
    assert_allclose(corrected.advantages, plain.advantages, rtol=1e-5, atol=1e-6)
    assert_allclose(corrected.returns, plain.returns, rtol=1e-5, atol=1e-6)
    assert corrected.measured == pytest.approx(
        {"importance_ratio_mean": 1.0, "importance_ratio_max": 1.0, "effective_sample_share": 1.0}
    )


@given(episodes(on_policy=True), st.sampled_from([1.0, 0.9]))
def test_v_trace_on_policy_at_lambda_1_learns_the_return(one: Trajectory, discount: float) -> None:
    found = V_TRACE.estimate([one], discount, VTraceSettings(lam=1.0))
    assert found.returns is not None
    assert_allclose(found.returns, discounted_returns(one.rewards, discount), rtol=1e-4, atol=1e-5)


ACTED, LEARNER, REWARDS = np.array([0.75, 0.25]), np.array([0.2, 0.8]), np.array([1.0, -1.0])


def expected_target(value: float, **settings: float) -> float:
    """Return the mean target of one decision between two actions, under the policy that acted."""
    targets = [
        v_trace(floats(reward), floats(value), np.array([ratio]), 1.0, VTraceSettings(**settings))[1][0]
        for reward, ratio in zip(REWARDS, LEARNER / ACTED, strict=True)
    ]
    return float(ACTED @ targets)


@pytest.mark.parametrize("value", [0.0, 0.7])
def test_v_trace_without_bounds_expects_the_learners_value(value: float) -> None:
    assert expected_target(value, **UNBOUNDED) == pytest.approx(LEARNER @ REWARDS, abs=1e-6)


def test_v_traces_fixed_point_is_the_value_of_the_policy_that_rho_bar_allows() -> None:
    """Equation 3: π_ρ̄(a) ∝ min(ρ̄ μ(a), π(a))."""
    allowed = np.minimum(ACTED, LEARNER)
    value = allowed @ REWARDS / allowed.sum()
    assert expected_target(value) == pytest.approx(value, abs=1e-6)


def test_v_trace_known_answer() -> None:
    one = episode([0, 1], values=[0.5, 0.25], log_ratios=[math.log(2), math.log(0.5)])
    found = V_TRACE.estimate([one], 1.0, VTraceSettings(lam=1.0))
    # δ = (.25 − .5, ½ (1 − .25)); the second target is .25 + .375, the first .5 − .25 + .375; c_0 = 1.
    assert found.returns is not None
    assert_allclose(found.returns, [0.625, 0.625], atol=1e-6)
    assert_allclose(found.advantages, [0.625 - 0.5, 0.375], atol=1e-6)
    assert found.measured["importance_ratio_mean"] == pytest.approx(1.25)
    assert found.measured["importance_ratio_max"] == pytest.approx(2.0)
    assert found.measured["effective_sample_share"] == pytest.approx(2.5**2 / 4.25 / 2)


def test_v_traces_bounds_must_agree() -> None:
    with pytest.raises(ValidationError, match="c_bar is 2 and rho_bar 1; expected c_bar at most rho_bar"):
        VTraceSettings(c_bar=2.0)


def situated(
    score: float,
    *,
    turns: Sequence[int] = (1,),
    faints: Sequence[int] | None = None,
    opponent: str = "p0",
    policy: str = "p1",
    teams: tuple[str, str] = ("", ""),
) -> Trajectory:
    """Return an episode with ``score`` as its return, and one decision a turn."""
    differences = np.array(faints or [0] * len(turns))
    circumstances = Circumstances(policy, opponent, teams, np.array(turns), differences)
    return episode([0.0] * (len(turns) - 1) + [score], circumstances=circumstances)


def grouped(played: Sequence[Trajectory], **settings: object) -> Estimates:
    return GROUP_RELATIVE.estimate(played, 1.0, GroupRelativeSettings.model_validate({"min_episodes": 2, **settings}))


def test_group_relative_known_answer() -> None:
    found = grouped([situated(score) for score in (1, 1, -1, 1)])
    # Mean .5, deviation √.75.
    assert_allclose(found.advantages, np.array([0.5, 0.5, -1.5, 0.5]) / math.sqrt(0.75), rtol=1e-6)
    assert found.returns is None
    assert found.measured == {"grouped_share": 1.0}


@pytest.mark.parametrize(
    ("stratum", "differing"),
    [
        ("opponent", [{"opponent": "p0"}, {"opponent": "p9"}]),
        ("policy", [{"policy": "p1"}, {"policy": "p2"}]),
        ("teams", [{"teams": ("a", "b")}, {"teams": ("b", "a")}]),
        ("turn", [{"turns": [4]}, {"turns": [5]}]),
        ("faints", [{"faints": [1]}, {"faints": [-1]}]),
    ],
)
def test_each_stratum_keeps_what_differs_apart(stratum: str, differing: list[dict[str, Any]]) -> None:
    one, other = differing
    played = [
        situated(1, **one),
        situated(-1, **one),
        situated(1, **other),
        situated(1, **other),
        situated(-1, **other),
    ]
    apart = grouped(played, strata=[stratum]).advantages
    assert_allclose(apart[:2], [1, -1], atol=1e-6)
    assert_allclose(apart[2:], np.array([1, 1, -2]) / math.sqrt(2), atol=1e-6)
    without = [s for s in ("policy", "opponent", "turn", "faints", "teams") if s != stratum]
    together = grouped(played, strata=without).advantages
    assert_allclose(together[[0, 2, 3]], together[0], atol=1e-6)


def test_decisions_of_one_bucket_are_compared_and_those_of_another_are_not() -> None:
    played = [situated(1, turns=[1, 12]), situated(-1, turns=[3, 19]), situated(1, turns=[4, 21])]
    found = grouped(played, turns_a_bucket=10, strata=["turn"])
    assert found.counts is not None
    assert found.counts.tolist() == [True, True, True, True, True, False]
    assert_allclose(found.advantages[[1, 3]], [1, -1], atol=1e-6)


def test_a_group_of_one_episode_and_one_without_differences_are_dropped() -> None:
    alone = situated(1, turns=[1, 2, 3], opponent="alone")
    equal = [situated(1, opponent="weak"), situated(1, opponent="weak")]
    found = grouped([alone, *equal, situated(1), situated(-1)], strata=["opponent"])
    assert found.counts is not None
    assert found.counts.tolist() == [False] * 5 + [True] * 2
    assert_allclose(found.advantages, [0] * 5 + [1, -1], atol=1e-6)
    assert found.measured["grouped_share"] == pytest.approx(2 / 7)


def test_a_small_group_is_compared_in_the_larger_one_without_the_last_stratum() -> None:
    teams = [("a", "b")] * 3 + [("c", "d")]
    played = [situated(score, teams=team) for score, team in zip((1, 1, -1, -1), teams, strict=True)]
    found = grouped(played, strata=["opponent", "teams"], min_episodes=3)
    assert_allclose(found.advantages[:3], np.array([1, 1, -2]) / math.sqrt(2), atol=1e-6)
    assert_allclose(found.advantages[3], -1, atol=1e-6)


def test_a_stratum_is_named_once() -> None:
    with pytest.raises(ValidationError, match="expected each stratum once, got turn, turn"):
        GroupRelativeSettings(strata=("turn", "turn"))


@st.composite
def situations(draw: st.DrawFn) -> Trajectory:
    turns = draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    return situated(
        draw(st.sampled_from([1.0, 0.0, -1.0])), turns=sorted(turns), opponent=draw(st.sampled_from(["a", "b"]))
    )


@given(st.lists(situations(), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_episodes_changes_no_group_relative_advantage(played: list[Trajectory], random: object) -> None:
    order = list(range(len(played)))
    random.shuffle(order)  # type: ignore[attr-defined]

    def by_episode(chosen: Sequence[Trajectory]) -> list[Floats]:
        return np.split(
            grouped(chosen, min_episodes=3).advantages, np.cumsum([len(one.rewards) for one in chosen])[:-1]
        )

    straight, shuffled = by_episode(played), by_episode([played[i] for i in order])
    for position, i in enumerate(order):
        assert_allclose(shuffled[position], straight[i], atol=1e-5)


@given(st.lists(situations(), min_size=2, max_size=12))
def test_a_groups_advantages_have_mean_0_and_deviation_1(played: list[Trajectory]) -> None:
    found = grouped(played, strata=["opponent"])
    assert found.counts is not None
    opponents = np.concatenate([[one.circumstances.opponent] * len(one.rewards) for one in played if one.circumstances])
    for opponent in set(opponents):
        rows = opponents == opponent
        if found.counts[rows].any():
            assert found.advantages[rows].mean() == pytest.approx(0, abs=1e-5)
            assert found.advantages[rows].std() == pytest.approx(1, abs=1e-4)


@given(st.lists(episodes(on_policy=True), min_size=1, max_size=3))
def test_every_estimator_returns_one_row_a_decision(played: list[Trajectory]) -> None:
    situated_ones = [
        Trajectory(
            one.rewards,
            one.values,
            one.log_ratios,
            Circumstances("p", "q", ("", ""), np.arange(len(one.rewards)), np.zeros(len(one.rewards), np.int64)),
        )
        for one in played
    ]
    num_decisions = sum(len(one.rewards) for one in played)
    for estimator in ADVANTAGES.all().values():
        found = estimator.estimate(situated_ones, 1.0, estimator.settings())
        assert found.advantages.shape == (num_decisions,)
        assert found.advantages.dtype == np.float32
        assert np.isfinite(found.advantages).all()
        assert (found.returns is not None) == estimator.uses_critic


def test_generalised_advantages_known_answer() -> None:
    found = generalised_advantages(floats(0, 0, 1), floats(0.5, 0.5, 0.5), 0.99, 0.95)
    assert_allclose(found, [0.4325676, 0.46525, 0.5], atol=1e-6)


def test_discounted_returns() -> None:
    assert_allclose(discounted_returns(floats(0, 1, 2), 0.5), [1.0, 2.0, 2.0])
