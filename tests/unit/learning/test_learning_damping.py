"""Damping schedules, controllers, presets and their overrides. Known answers where there are any."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nashdex.learning.damping import (
    OF_BETA,
    OF_STEP_SIZE,
    WINDOW_UPDATES,
    Controller,
    ControllerState,
    Moment,
    beta_at,
    coefficients,
    is_warm,
    observe_reference,
)
from nashdex.settings.damping import DAMPING_PRESETS, Damping, DampingSettings, ReferenceCoefficient

PRESETS = {name: preset.damping for name, preset in DAMPING_PRESETS.all().items()}


def resolved(preset: str = "ppo-clip-kl", **overrides: object) -> Damping:
    return DampingSettings.model_validate({"preset": preset, **overrides})


def after_decisions(decisions: float, update: int | None = None) -> Moment:
    """Return the moment after as many decisions as optimiser steps, unless ``update`` is given."""
    return Moment(update=int(decisions) if update is None else update, decisions=decisions)


def test_schedule_known_answers() -> None:
    beta = ReferenceCoefficient(initial=0.05, decay_decisions=1e6)
    assert beta_at(beta, after_decisions(0)) == 0.05
    assert beta_at(beta, after_decisions(1_000_000)) == pytest.approx(0.0353553, abs=1e-7)
    assert beta_at(beta, after_decisions(3_000_000)) == pytest.approx(0.025, abs=1e-9)
    assert beta_at(ReferenceCoefficient(initial=0.05), after_decisions(3_000_000)) == 0.05, "without decay_decisions"


def test_schedule_multiplier_bounds_and_warm_up_compose() -> None:
    """The multiplier survives the schedule: neither overwrites the other, at any step."""
    beta = ReferenceCoefficient(initial=0.08, decay_decisions=100, floor=0.01, warmup_updates=10)
    assert beta_at(beta, after_decisions(0)) == 0.0
    assert beta_at(beta, after_decisions(5)) == pytest.approx(0.08 / 1.05**0.5 / 2)
    assert beta_at(beta, after_decisions(5), multiplier=30.0) == pytest.approx(0.8 / 2), "capped before it is warm"
    assert beta_at(beta, after_decisions(300), multiplier=2.0) == pytest.approx(0.08)
    assert beta_at(beta, after_decisions(300), multiplier=1.0) == pytest.approx(0.04)
    assert beta_at(beta, after_decisions(100_000)) == 0.01


@given(
    multiplier=st.floats(0.1, 10),
    update=st.integers(0, 10**7),
    decay_decisions=st.floats(1, 1e6),
)
def test_a_coefficient_is_its_schedule_times_its_multiplier_within_bounds(
    multiplier: float, update: int, decay_decisions: float
) -> None:
    free = ReferenceCoefficient(initial=0.05, decay_decisions=decay_decisions)
    bounded = free.model_copy(update={"floor": 0.001})
    moment = after_decisions(update)
    assert beta_at(free, moment, multiplier) == pytest.approx(multiplier * beta_at(free, moment))
    assert beta_at(bounded, moment, multiplier) == pytest.approx(max(beta_at(free, moment, multiplier), 0.001))
    assert beta_at(bounded, moment, 1000 * multiplier) <= 10 * free.initial


def after(
    controller: Controller, target_nats: float, *kls: float, state: ControllerState | None = None
) -> ControllerState:
    state = state or ControllerState()
    for kl in kls:
        state = controller.observe(state, kl, target_nats)
    return state


@pytest.mark.parametrize(
    ("controller", "kl", "multiplier"),
    [
        (OF_BETA, 0.031, 1.5),
        (OF_BETA, 0.0299, 1.0),
        (OF_BETA, 0.0134, 1.0),
        (OF_BETA, 0.0133, 0.9),
        (OF_STEP_SIZE, 0.031, 0.5),
        (OF_STEP_SIZE, 0.02, 1.0),
    ],
)
def test_a_controller_judges_the_mean_of_a_window(controller: Controller, kl: float, multiplier: float) -> None:
    waiting = after(controller, 0.02, *[kl] * (WINDOW_UPDATES - 1))
    assert waiting.multiplier == 1.0, "it waits for the whole window"
    assert waiting.total_nats / waiting.num_updates == pytest.approx(kl)
    judged = after(controller, 0.02, kl, state=waiting)
    assert (judged.multiplier, judged.num_updates) == (pytest.approx(multiplier), 0)


def test_one_wild_update_among_calm_ones_does_not_move_a_controller() -> None:
    assert after(OF_BETA, 0.02, *[0.015] * (WINDOW_UPDATES - 1), 0.1).multiplier == 1.0


def test_a_controller_ignores_what_is_not_finite_and_stays_within_bounds() -> None:
    assert after(OF_BETA, 0.02, math.nan, math.inf).num_updates == 0
    assert after(OF_BETA, 0.02, *[1.0] * 500).multiplier == 10.0
    assert after(OF_BETA, 0.02, *[0.0] * 500).multiplier == pytest.approx(0.1)


def test_the_step_size_halves_above_its_target_and_grows_back_by_a_tenth() -> None:
    halved = after(OF_STEP_SIZE, 0.01, *[1.0] * WINDOW_UPDATES)
    assert halved.multiplier == 0.5
    assert after(OF_STEP_SIZE, 0.01, *[0.0] * WINDOW_UPDATES, state=halved).multiplier == pytest.approx(0.55)
    calm = [0.0] * WINDOW_UPDATES * 50
    assert after(OF_STEP_SIZE, 0.01, *calm, state=halved).multiplier == 1.0, "never above what was set"


def test_the_presets_are_those_of_the_specification() -> None:
    def beta(name: str, update: int) -> float:
        return beta_at(PRESETS[name].beta, after_decisions(update))

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
    assert beta_at(PRESETS["s0-damped"].beta, after_decisions(0), multiplier=100.0) == 0.5
    assert (PRESETS["s0-damped"].beta.target_nats, PRESETS["s0-damped"].step_target_nats) == (0.01, 0.01)


def test_controllers_are_frozen_in_warm_up() -> None:
    assert [is_warm(PRESETS["adaptive-kl"], after_decisions(update)) for update in (0, 9, 10)] == [False, False, True]
    assert is_warm(PRESETS["s0-damped"], after_decisions(0))


def test_the_warm_up_of_a_reference_that_was_taken_away_delays_no_controller() -> None:
    damping = resolved("adaptive-kl", beta={"initial": 0}, step_target_nats=0.01)
    assert is_warm(damping, after_decisions(0))


def test_overrides_change_what_they_name_and_keep_the_rest() -> None:
    changed = resolved("s0-damped", beta={"initial": 0.1}, entropy=0.004)
    before = PRESETS["s0-damped"]
    assert changed.beta == before.beta.model_copy(update={"initial": 0.1})
    assert (changed.reference, changed.clock, changed.step_target_nats) == ("snapshot", "run", 0.01)
    assert coefficients(changed, after_decisions(0), entropy_share=0.5).entropy == 0.002


@pytest.mark.parametrize("preset", PRESETS)
def test_resolved_damping_survives_json(preset: str) -> None:
    """A run stores it resolved, so that a later change of a preset does not change the run."""
    damping = resolved(preset, entropy=0.5)
    assert DampingSettings.model_validate_json(damping.model_dump_json()) == damping


def test_a_coefficient_brings_the_reference_that_it_needs_and_0_removes_it() -> None:
    brought = resolved("none", beta={"initial": 0.3})
    assert (brought.reference, beta_at(brought.beta, after_decisions(9))) == ("snapshot", 0.3)
    assert resolved("ema-magnet", beta={"initial": 0.3}).reference == "ema"
    for removed in (resolved("ppo-clip-kl", beta={"initial": 0}), resolved("ppo-clip-kl", reference="none")):
        assert (removed.reference, coefficients(removed, after_decisions(9)).beta_reference) == ("none", 0.0)


def test_an_annealed_uniform_magnet_over_the_whole_run() -> None:
    beta = {"initial": 0.3, "decay_decisions": 100, "floor": 0.05, "target_nats": 0.03}
    magnet = resolved("none", reference="uniform", beta=beta, clock="run")
    assert (magnet.reference, magnet.clock, magnet.beta.target_nats) == ("uniform", "run", 0.03)
    assert [beta_at(magnet.beta, after_decisions(k)) for k in (0, 300, 10**6)] == pytest.approx([0.3, 0.15, 0.05])


@pytest.mark.parametrize("zero", [0, "0", "0.0"])
def test_a_target_of_0_switches_a_controller_off(zero: object) -> None:
    damping = resolved("s0-damped", beta={"target_nats": zero}, step_target_nats=zero)
    assert (damping.beta.target_nats, damping.step_target_nats) == (0, 0)


@pytest.mark.parametrize(
    ("preset", "overrides", "message"),
    [
        ("none", {"reference": "uniform"}, "reference 'uniform' has no effect with beta.initial = 0"),
        ("ppo-clip-kl", {"reference": "none", "beta": {"initial": 0.1}}, "beta has no effect with reference = 'none'"),
        ("none", {"beta": {"target_nats": 0.1}}, "beta has no effect with reference = 'none'"),
        (
            "none",
            {"reference": "ema", "beta": {"initial": 0, "floor": 0.1, "target_nats": 0.1}},
            "beta.target_nats has no effect with beta.initial = 0",
        ),
        ("kl-warmup", {"beta": {"initial": 0, "warmup_updates": 9}}, "beta has no effect with reference = 'none'"),
        ("s0-damped", {"beta": {"floor": -1}}, "greater than or equal to 0"),
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
    assert (made.reference, made.beta) == ("none", ReferenceCoefficient())
    assert DampingSettings.model_validate(made.model_dump()) == made


@pytest.mark.parametrize(("initial", "decay_decisions"), [(0.04, 0), (0.05, 100), (0.4, 0)])
def test_a_controller_takes_the_coefficient_to_its_cap_and_leaves_it_at_once(
    initial: float, decay_decisions: float
) -> None:
    """However far the schedule has fallen below the cap."""
    beta = ReferenceCoefficient(initial=initial, decay_decisions=decay_decisions, target_nats=0.01)
    now, state = after_decisions(500), ControllerState()
    for _ in range(200):
        state = observe_reference(beta, state, 1.0, now)
    assert beta_at(beta, now, state.multiplier) == pytest.approx(10 * initial)
    for _ in range(WINDOW_UPDATES):
        state = observe_reference(beta, state, 0.0, now)
    assert beta_at(beta, now, state.multiplier) == pytest.approx(9 * initial), (
        "the multiplier did not grow beyond the cap"
    )
