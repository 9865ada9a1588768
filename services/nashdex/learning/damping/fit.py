"""Damping that is valid and has no effect, or that drives away from its target: refused before a run begins.

Not when a stored run is read, which may have begun before. A preset's own values are never refused: only what a user
set beside it can be left out.
"""

from collections.abc import Iterator

from nashdex.core.section import Section, changed_keys
from nashdex.learning.damping.controller import Controller
from nashdex.learning.damping.interface import StepSize
from nashdex.learning.damping.registry import DAMPING_PRESETS
from nashdex.learning.damping.schedule import Schedule
from nashdex.learning.damping.settings import DampingSettings


def without_effect(damping: DampingSettings) -> Iterator[str]:
    """Yield what has no effect or works upside down, by keys relative to the section of damping."""
    yield from _of_reference(damping)
    preset = DAMPING_PRESETS[damping.preset].damping
    if damping.reference != "none":
        yield from _of_schedule("beta", damping.beta, preset.beta)
    yield from _of_schedule("entropy", damping.entropy, preset.entropy)
    yield from _of_schedule("step_size", damping.step_size, preset.step_size)
    yield from _of_direction("beta", damping.beta.controller, larger_lowers_kl=True)
    yield from _of_direction("step_size", damping.step_size.controller, larger_lowers_kl=False)


def _of_reference(damping: DampingSettings) -> Iterator[str]:
    if damping.reference == "none":
        for key in _set_by_user(damping.beta, DAMPING_PRESETS[damping.preset].damping.beta):
            yield (
                f"beta.{key} is {getattr(damping.beta, key):g} and reference 'none', so there is no KL that beta "
                "weighs; leave it out, or name a reference"
            )
        return
    if damping.beta.cap == 0:
        yield (
            f"beta.cap is 0 and reference {damping.reference!r}, whose KL then always weighs 0; expected beta.cap "
            "above 0, or reference = 'none'"
        )
    if damping.reference == "ema" and damping.ema_decay == 0:
        yield (
            "ema_decay is 0 and reference 'ema', so the average is the newest network and its KL always 0; expected "
            "ema_decay above 0, or reference = 'none'"
        )


def _of_schedule(name: str, schedule: Schedule | StepSize, preset: Schedule | StepSize) -> Iterator[str]:
    """Yield what a user set about a fall that does not happen."""
    for key in _set_by_user(schedule, preset):
        if key == "decay_decisions" and schedule.power == 0:
            yield (
                f"{name}.decay_decisions is {schedule.decay_decisions:g} and {name}.power 0, so {name} never falls; "
                f"leave it out, or set {name}.power above 0"
            )
        elif key in {"power", "decay_decisions"} and isinstance(schedule, Schedule) and schedule.initial == 0:
            yield (
                f"{name}.{key} is {getattr(schedule, key):g} and {name}.initial 0, so there is nothing that falls; "
                f"leave it out, or set {name}.initial above 0"
            )


def _of_direction(name: str, controller: Controller, *, larger_lowers_kl: bool) -> Iterator[str]:
    """Yield factors that move the KL away from the target."""
    if not controller.is_on:
        return  # problems() says that they have no effect
    raises = {"when_above": larger_lowers_kl, "when_below": not larger_lowers_kl}
    for key, is_to_grow in raises.items():
        factor = getattr(controller, key)
        if factor < 1 if is_to_grow else factor > 1:
            move, bound = ("shrinks", "at least") if is_to_grow else ("grows", "at most")
            yield (
                f"{name}.controller.{key} is {factor:g} and {name}.controller.target_nats {controller.target_nats:g}: "
                f"{name} {move} where the KL is {key.removeprefix('when_')} the target, which drives it further away; "
                f"expected {key} of {bound} 1"
            )


def _set_by_user(section: Section, preset: Section) -> list[str]:
    """Return the keys of a section that have neither their default nor the preset's value."""
    return [key for key in changed_keys(section) if getattr(section, key) != getattr(preset, key)]
