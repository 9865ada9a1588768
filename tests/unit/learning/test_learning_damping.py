"""Damping schedules, controllers, presets and their overrides. Known answers where there are any."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nashdex.learning.damping.controller import Controller, ControllerState
from nashdex.learning.damping.interface import Damping, ReferenceCoefficient
from nashdex.learning.damping.registry import DAMPING_PRESETS
from nashdex.learning.damping.schedule import Moment, Schedule
from nashdex.learning.damping.settings import DampingSettings

PRESETS = {name: preset.damping for name, preset in DAMPING_PRESETS.all().items()}


def resolved(preset: str = "ppo-clip-kl", **overrides: object) -> Damping:
    return DampingSettings.model_validate({"preset": preset, **overrides})


def after_decisions(decisions: float, update: int | None = None) -> Moment:
    """Return the moment after as many decisions as optimiser steps, unless ``update`` is given."""
    return Moment(update=int(decisions) if update is None else update, decisions=decisions)


def test_schedule_known_answers() -> None:
    schedule = Schedule(initial=0.05, power=0.5, decay_decisions=1e6)
    assert schedule.at(after_decisions(0)) == 0.05
    assert schedule.at(after_decisions(1_000_000)) == pytest.approx(0.0353553, abs=1e-7)
    assert schedule.at(after_decisions(3_000_000)) == pytest.approx(0.025, abs=1e-9)


def test_schedule_multiplier_bounds_and_warm_up_compose() -> None:
    """The multiplier survives the schedule: neither overwrites the other, at any step."""
    coefficient = Schedule(initial=0.08, power=1.0, decay_decisions=100, floor=0.01, cap=0.1, warmup_updates=10)
    assert coefficient.at(after_decisions(0)) == 0.0
    assert coefficient.at(after_decisions(5)) == pytest.approx(0.08 / 1.05 / 2)
    assert coefficient.at(after_decisions(5), multiplier=3.0) == pytest.approx(0.1 / 2), "capped before it is warm"
    assert coefficient.at(after_decisions(100), multiplier=2.0) == pytest.approx(0.08)
    assert coefficient.at(after_decisions(100), multiplier=1.0) == pytest.approx(0.04)
    assert coefficient.at(after_decisions(100_000)) == 0.01


@given(
    multiplier=st.floats(0.1, 10),
    update=st.integers(0, 10**7),
    power=st.floats(0, 3),
    decay_decisions=st.floats(1, 1e6),
)
def test_a_coefficient_is_its_schedule_times_its_multiplier_within_bounds(
    multiplier: float, update: int, power: float, decay_decisions: float
) -> None:
    schedule = Schedule(initial=0.05, power=power, decay_decisions=decay_decisions)
    bounded = Schedule(initial=0.05, power=power, decay_decisions=decay_decisions, floor=0.001, cap=0.2)
    moment = after_decisions(update)
    assert schedule.at(moment, multiplier) == pytest.approx(multiplier * schedule.at(moment))
    assert bounded.at(moment, multiplier) == pytest.approx(min(max(schedule.at(moment, multiplier), 0.001), 0.2))


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
    controller = PRESETS[preset].beta.controller
    high, window = 1.5 * target, controller.window_updates
    moves = [
        after(controller, *[kl] * window).multiplier for kl in (high * 1.001, high * 0.999, low * 1.001, low * 0.999)
    ]
    assert moves == pytest.approx([factors[0], 1.0, 1.0, factors[1]])


def test_the_step_size_halves_above_its_target_and_grows_back_by_a_tenth() -> None:
    controller = PRESETS["s0-damped"].step_size.controller
    window = controller.window_updates
    halved = after(controller, *[1.0] * window)
    assert halved.multiplier == 0.5
    assert after(controller, *[0.0] * window, state=halved).multiplier == pytest.approx(0.55)
    assert after(controller, *[0.0] * window * 50, state=halved).multiplier == 1.0, "never above what was set"


def test_the_presets_are_those_of_the_specification() -> None:
    def beta(name: str, update: int) -> float:
        return PRESETS[name].beta.at(after_decisions(update))

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
    assert PRESETS["s0-damped"].beta.at(after_decisions(0), multiplier=100.0) == 0.5
    assert PRESETS["s0-damped"].entropy.at(after_decisions(10**6)) == pytest.approx(0.01 * 2**-0.7)
    assert PRESETS["s0-damped"].entropy.at(after_decisions(10**9)) == 0.001
    assert PRESETS["ema-magnet"].ema_decay == 0.999


def test_controllers_are_frozen_in_warm_up() -> None:
    assert [PRESETS["adaptive-kl"].is_warm(after_decisions(update)) for update in (0, 9, 10)] == [False, False, True]
    assert PRESETS["s0-damped"].is_warm(after_decisions(0))


def test_the_warm_up_of_a_reference_that_was_taken_away_delays_no_controller() -> None:
    damping = resolved("adaptive-kl", beta={"initial": 0}, step_size={"controller": {"target_nats": 0.01}})
    assert damping.is_warm(after_decisions(0))


def test_overrides_change_what_they_name_and_keep_the_rest() -> None:
    changed = resolved("s0-damped", beta={"initial": 0.1}, entropy={"floor": 0.004}, step_size={"power": 0.5})
    before = PRESETS["s0-damped"]
    assert changed.beta == before.beta.model_copy(update={"initial": 0.1})
    assert changed.entropy == before.entropy.model_copy(update={"floor": 0.004})
    assert changed.step_size == before.step_size.model_copy(update={"power": 0.5})
    assert (changed.reference, changed.clock) == ("snapshot", "run")
    coefficients = resolved("none", beta_behaviour=0.2).coefficients(after_decisions(9))
    assert (coefficients.beta_behaviour, coefficients.entropy) == (0.2, 0.01)


@pytest.mark.parametrize("preset", PRESETS)
def test_resolved_damping_survives_json(preset: str) -> None:
    """A run stores it resolved, so that a later change of a preset does not change the run."""
    damping = resolved(preset, entropy={"initial": 0.5})
    assert DampingSettings.model_validate_json(damping.model_dump_json()) == damping


def test_a_coefficient_brings_the_reference_that_it_needs_and_0_removes_it() -> None:
    brought = resolved("none", beta={"initial": 0.3})
    assert (brought.reference, brought.beta.at(after_decisions(9))) == ("snapshot", 0.3)
    assert resolved("ema-magnet", beta={"initial": 0.3}).reference == "ema"
    for removed in (resolved("ppo-clip-kl", beta={"initial": 0}), resolved("ppo-clip-kl", reference="none")):
        assert (removed.reference, removed.coefficients(after_decisions(9)).beta_reference) == ("none", 0.0)


def test_an_annealed_uniform_magnet_over_the_whole_run() -> None:
    magnet = resolved(
        "none",
        reference="uniform",
        beta={
            "initial": 0.3,
            "power": 0.5,
            "decay_decisions": 100,
            "floor": 0.05,
            "cap": 0.2,
            "controller": {"target_nats": 0.03},
        },
        clock="run",
    )
    assert (magnet.reference, magnet.clock) == ("uniform", "run")
    assert [magnet.beta.at(after_decisions(k)) for k in (0, 300, 10**6)] == pytest.approx([0.2, 0.15, 0.05])
    assert magnet.beta.controller == Controller(target_nats=0.03)


@pytest.mark.parametrize("zero", [0, "0", "0.0"])
def test_a_target_of_0_switches_a_controller_off(zero: object) -> None:
    off = {"controller": {"target_nats": zero}}
    damping = resolved("s0-damped", beta=off, step_size=off)
    assert not damping.beta.controller.is_on
    assert not damping.step_size.controller.is_on
    controller = resolved("none", step_size={"controller": {"target_nats": 0.004}}).step_size.controller
    assert controller.is_on
    assert (controller.target_nats, controller.when_above, controller.when_below) == (0.004, 0.5, 1.1)


@pytest.mark.parametrize(
    ("preset", "overrides", "message"),
    [
        ("none", {"reference": "uniform"}, "reference is 'uniform' and beta.initial is 0"),
        ("ppo-clip-kl", {"reference": "none", "beta": {"initial": 0.1}}, "beta.initial is 0.1 and reference is"),
        ("s0-damped", {"beta": {"floor": 0.6}}, "beta.floor is 0.6, above beta.cap, which is 0.5"),
        ("bogus", {}, "Input should be 'none', 'ppo-clip-kl'"),
        ("none", {"beta": {"bogus": 1}}, "beta.bogus"),
    ],
)
def test_damping_that_contradicts_itself_is_refused(preset: str, overrides: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        resolved(preset, **overrides)


@pytest.mark.parametrize("given", [{"beta": {"initial": 0}}, {"reference": "none"}, {"beta": {"initial": "0"}}])
def test_without_a_reference_the_presets_controller_of_beta_goes_too(given: dict[str, object]) -> None:
    made = DampingSettings.model_validate({"preset": "adaptive-kl"} | given)
    assert made.reference == "none"
    assert not made.beta.controller.is_on
    assert DampingSettings.model_validate(made.model_dump()) == made


@pytest.mark.parametrize(("initial", "power"), [(0.04, 0.0), (0.05, 0.5), (0.4, 0.0)])
def test_a_controller_takes_the_coefficient_to_its_cap_and_leaves_it_at_once(initial: float, power: float) -> None:
    """However far the schedule has fallen below the cap."""
    beta = ReferenceCoefficient(
        initial=initial, power=power, decay_decisions=100, cap=0.5, controller=Controller(target_nats=0.01)
    )
    now, state = after_decisions(500), ControllerState()
    for _ in range(200):
        state = beta.observe(state, 1.0, now)
    assert beta.at(now, state.multiplier) == pytest.approx(0.5)
    for _ in range(beta.controller.window_updates):
        state = beta.observe(state, 0.0, now)
    assert beta.at(now, state.multiplier) == pytest.approx(0.5 / 1.5), "the multiplier did not grow beyond the cap"


def test_a_bound_of_the_multiplier_beside_a_cap_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"beta\.controller\.largest is 3 and beta\.cap 0\.5"):
        resolved("s0-damped", beta={"controller": {"largest": 3}})
