"""Damping as data: schedules, controllers, presets and their overrides. Known answers where there are any."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.errors import ConfigurationError
from nashdex.trainer.damping import (
    PRESETS,
    Coefficient,
    Coefficients,
    Controller,
    ControllerState,
    Damping,
    resolve_damping,
)
from nashdex.trainer.settings import TrainSettings


def resolved(preset: str = "ppo-clip-kl", **damping: object) -> Damping:
    return resolve_damping(TrainSettings.model_validate({"preset": preset, "damping": damping}))


def test_schedule_known_answers() -> None:
    schedule = Coefficient(0.05, power=0.5, decay_updates=1e6)
    assert schedule.at(0) == 0.05
    assert schedule.at(1_000_000) == pytest.approx(0.0353553, abs=1e-7)
    assert schedule.at(3_000_000) == pytest.approx(0.025, abs=1e-9)


def test_schedule_multiplier_bounds_and_warm_up_compose() -> None:
    """The multiplier survives the schedule: neither overwrites the other, at any step."""
    coefficient = Coefficient(0.08, power=1.0, decay_updates=100, floor=0.01, cap=0.1, warmup_updates=10)
    assert coefficient.at(0) == 0.0
    assert coefficient.at(5) == pytest.approx(0.08 / 1.05 / 2)
    assert coefficient.at(5, multiplier=3.0) == pytest.approx(0.1 / 2), "capped before it is warm"
    assert coefficient.at(100, multiplier=2.0) == pytest.approx(0.08)
    assert coefficient.at(100, multiplier=1.0) == pytest.approx(0.04)
    assert coefficient.at(100_000) == 0.01


@given(
    multiplier=st.floats(0.1, 10),
    update=st.integers(0, 10**7),
    power=st.floats(0, 3),
    decay_updates=st.floats(1, 1e6),
)
def test_a_coefficient_is_its_schedule_times_its_multiplier_within_bounds(
    multiplier: float, update: int, power: float, decay_updates: float
) -> None:
    schedule = Coefficient(0.05, power=power, decay_updates=decay_updates)
    bounded = Coefficient(0.05, power=power, decay_updates=decay_updates, floor=0.001, cap=0.2)
    assert schedule.at(update, multiplier) == pytest.approx(multiplier * schedule.at(update))
    assert bounded.at(update, multiplier) == pytest.approx(min(max(schedule.at(update, multiplier), 0.001), 0.2))


CONTROLLER = Controller(target_nats=0.02, when_above=1.5, when_below=1 / 1.5, slack=2.0, window_updates=4)


def after(controller: Controller, *kls: float, state: ControllerState | None = None) -> ControllerState:
    state = state or ControllerState()
    for kl in kls:
        state = controller.observe(state, kl)
    return state


@pytest.mark.parametrize(
    ("kl", "multiplier"),
    [(0.031, 1.5), (0.030, 1.0), (0.020, 1.0), (0.0101, 1.0), (0.0099, 1 / 1.5)],
    ids=["above 1.5 times the target", "at that", "on target", "at half", "below half"],
)
def test_a_controller_judges_the_mean_of_a_window(kl: float, multiplier: float) -> None:
    waiting = after(CONTROLLER, kl, kl, kl)
    assert waiting.multiplier == 1.0, "it waits for the whole window"
    assert waiting.average_nats == pytest.approx(kl)
    judged = after(CONTROLLER, kl, state=waiting)
    assert (judged.multiplier, judged.num_updates) == (pytest.approx(multiplier), 0)


def test_one_wild_update_among_calm_ones_does_not_move_a_controller() -> None:
    assert after(CONTROLLER, 0.01, 0.01, 0.01, 0.08).multiplier == 1.0


def test_a_controller_ignores_what_is_not_finite_and_stays_within_bounds() -> None:
    assert after(CONTROLLER, math.nan, math.inf).num_updates == 0
    assert after(CONTROLLER, *[1.0] * 100).multiplier == 10.0
    assert after(CONTROLLER, *[0.0] * 100).multiplier == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("preset", "target", "low", "factors"),
    [("s0-damped", 0.01, 0.01 / 1.5, (1.5, 0.9)), ("adaptive-kl", 0.02, 0.01, (1.5, 1 / 1.5))],
)
def test_the_seeds_two_controllers(preset: str, target: float, low: float, factors: tuple[float, float]) -> None:
    controller = PRESETS[preset].beta_controller
    assert controller is not None
    high, window = 1.5 * target, controller.window_updates
    moves = [
        after(controller, *[kl] * window).multiplier for kl in (high * 1.001, high * 0.999, low * 1.001, low * 0.999)
    ]
    assert moves == pytest.approx([factors[0], 1.0, 1.0, factors[1]])


def test_the_step_size_halves_above_its_target_and_grows_back_by_a_tenth() -> None:
    controller = PRESETS["s0-damped"].rate_controller
    assert controller is not None
    window = controller.window_updates
    halved = after(controller, *[1.0] * window)
    assert halved.multiplier == 0.5
    assert after(controller, *[0.0] * window, state=halved).multiplier == pytest.approx(0.55)
    assert after(controller, *[0.0] * window * 50, state=halved).multiplier == 1.0, "never above what was set"


def test_the_presets_are_those_of_the_specification() -> None:
    def beta(name: str, update: int) -> float:
        return PRESETS[name].beta_reference.at(update)

    assert {name: damping.reference for name, damping in PRESETS.items()} == {
        "none": "none",
        "s0-damped": "snapshot",
        "ppo-clip-kl": "snapshot",
        "kl-warmup": "snapshot",
        "adaptive-kl": "snapshot",
        "ema-magnet": "ema",
        "portfolio": "portfolio",
    }
    assert beta("none", 7) == 0
    assert [beta("ppo-clip-kl", u) for u in (0, 10**6)] == [0.02, 0.02]
    assert [beta("kl-warmup", u) for u in (0, 10, 20, 999)] == pytest.approx([0, 0.01, 0.02, 0.02])
    assert [beta("adaptive-kl", u) for u in (0, 5, 10)] == pytest.approx([0, 0.01, 0.02])
    assert [beta("s0-damped", u) for u in (0, 10**6)] == pytest.approx([0.05, 0.0353553], abs=1e-7)
    assert PRESETS["s0-damped"].beta_reference.at(0, multiplier=100.0) == 0.5
    assert PRESETS["s0-damped"].entropy.at(10**6) == pytest.approx(0.01 * 2**-0.7)
    assert PRESETS["s0-damped"].entropy.at(10**9) == 0.001
    assert PRESETS["ema-magnet"].ema_decay == 0.999


def test_controllers_are_frozen_in_warm_up() -> None:
    assert [PRESETS["adaptive-kl"].is_warm(update) for update in (0, 9, 10)] == [False, False, True]
    assert PRESETS["s0-damped"].is_warm(0)


def test_overrides_change_what_they_name_and_keep_the_rest() -> None:
    changed = resolved("s0-damped", beta_reference=0.1, entropy_floor=0.004, learning_rate_power=0.5)
    assert changed.beta_reference == Coefficient(0.1, power=0.5, decay_updates=1e6, cap=0.5)
    assert (changed.entropy.initial, changed.entropy.floor) == (0.01, 0.004)
    assert (changed.rate_power, changed.reference, changed.clock) == (0.5, "snapshot", "run")
    assert changed.beta_controller == PRESETS["s0-damped"].beta_controller
    assert [c.at(9) for c in (resolved("none", beta_old=0.2).beta_old, resolved("none").entropy)] == [0.2, 0.01]


def test_a_coefficient_brings_the_reference_that_it_needs_and_0_removes_it() -> None:
    brought = resolved("none", beta_reference=0.3)
    assert (brought.reference, brought.beta_reference.at(9)) == ("snapshot", 0.3)
    assert resolved("ema-magnet", beta_reference=0.3).reference == "ema"
    removed = resolved("ppo-clip-kl", beta_reference=0)
    assert (removed.reference, Coefficients.at(removed, 9).beta_reference) == ("none", 0.0)


def test_an_annealed_uniform_magnet_over_the_whole_run() -> None:
    magnet = resolved(
        "none",
        reference="uniform",
        beta_reference=0.3,
        beta_power=0.5,
        beta_decay_updates=100,
        beta_floor=0.05,
        beta_cap=0.2,
        beta_target_nats=0.03,
        clock="run",
    )
    assert (magnet.reference, magnet.clock) == ("uniform", "run")
    assert [magnet.beta_reference.at(k) for k in (0, 300, 10**6)] == pytest.approx([0.2, 0.15, 0.05])
    assert magnet.beta_controller is not None
    assert magnet.beta_controller.target_nats == 0.03


def test_a_target_of_0_switches_a_controller_off() -> None:
    assert resolved("s0-damped", beta_target_nats=0, learning_rate_target_nats=0).beta_controller is None
    assert resolved("s0-damped", beta_target_nats=0, learning_rate_target_nats=0).rate_controller is None
    rate = resolved("none", learning_rate_target_nats=0.004).rate_controller
    assert rate is not None
    assert (rate.target_nats, rate.when_above, rate.when_below) == (0.004, 0.5, 1.1)


@pytest.mark.parametrize(
    ("preset", "damping", "message"),
    [
        ("none", {"reference": "uniform"}, "reference is 'uniform' and its coefficient is 0"),
        ("ppo-clip-kl", {"reference": "none", "beta_reference": 0.1}, "beta_reference is 0.1 and the reference is"),
        ("s0-damped", {"beta_floor": 0.6}, "beta_floor is 0.6, above the cap of 0.5"),
    ],
)
def test_damping_that_contradicts_itself_is_refused(preset: str, damping: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        resolved(preset, **damping)
