"""Registration: what an experiment will compare, and how, kept with its hash before the first run.

Registered are hypothesis, base, settings, arms with their budgets of decisions, seeds, measurement and verdict.
How many runs work at a time, invalid runs and follow-ups may change.
"""

from collections.abc import Mapping
from typing import Any

from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import flatten
from nashdex.runs.creation import PreparedRun
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings
from nashdex_lab.experiments.plan import Plan
from nashdex_lab.experiments.records import Registered, Registration, Results, RunRecord, Status, now

_AS_WRITTEN = {"hypothesis", "base", "settings", "seeds", "sweep", "measure", "verdict"}
_MOST_NAMED = 8


def registered(plan: Plan, results: Results, prepared: Mapping[str, PreparedRun]) -> Results:
    """Return ``results`` with the plan's registration. It may change until the first run begins.

    Raises:
        ConfigurationError: a run has begun, and what is registered has changed since.
    """
    has_begun = any(has_run_begun(record) for record in results.runs)
    old = results.registration
    if has_begun and old is not None:
        require_unchanged(plan, old)
        _require_same_settings(plan, old, prepared)
        return results
    content = Registered(
        plan=_written(plan),
        budgets={run.arm: _decisions_planned(prepared[run.id].settings) for run in plan.runs},
        run_settings={
            run.id: record.settings
            if (record := results.record(run.id)) is not None and has_run_begun(record)
            else prepared[run.id].settings.fingerprint()
            for run in plan.runs
        },
    )
    if old is not None and old.content == content:
        return results
    registration = Registration.of(content, registered=now(), is_after_runs=has_begun)
    return results.model_copy(update={"registration": registration})


def has_run_begun(record: RunRecord) -> bool:
    """Return whether a run has ever started."""
    return bool(record.began) or record.status not in {Status.PLANNED, Status.INVALIDATED}


def _decisions_planned(settings: RunSettings) -> int | None:
    """Return the decisions that a run learns from; None if its oracle has no such number.

    Unlike CPU time it does not depend on what else the machine does. A training ends with the round that reaches it.
    """
    oracle = settings.train.oracle
    return (settings.iterations - 1) * oracle.decisions if isinstance(oracle, PpoSettings) else None


def require_unchanged(plan: Plan, registration: Registration) -> None:
    """Check that the plan says what was registered.

    Raises:
        ConfigurationError: it does not. The message names what differs.
    """
    changed = _differing(registration.content.plan, _written(plan))
    if changed:
        raise _changed(plan, registration, changed, "restore what is registered")


def _require_same_settings(plan: Plan, registration: Registration, prepared: Mapping[str, PreparedRun]) -> None:
    prints = registration.content.run_settings
    changed = [
        f"the settings of run {run.id}"
        for run in plan.runs
        if prints.get(run.id) != prepared[run.id].settings.fingerprint()
    ]
    if changed:
        raise _changed(plan, registration, changed, f"restore {plan.base} and the version of nashdex")


def _changed(plan: Plan, registration: Registration, changed: list[str], restore: str) -> ConfigurationError:
    named = ", ".join(changed[:_MOST_NAMED]) + (
        f" and {len(changed) - _MOST_NAMED} more" * (len(changed) > _MOST_NAMED)
    )
    return ConfigurationError(
        f"{plan.path}: changed since registration {registration.short_digest} of {registration.registered}: {named}; "
        f"{restore}, or copy the file under another name and register that as a new experiment"
    )


def _written(plan: Plan) -> dict[str, Any]:
    """Return the registered part of the plan, as its file has it: a default that is added later changes nothing."""
    experiment = plan.experiment
    written = experiment.model_dump(mode="json", exclude_unset=True, include=_AS_WRITTEN)
    arms = {arm.name: {"plays": arm.plays, "settings": arm.settings} for arm in experiment.all_arms}
    return written | {"name": plan.name, "seeds": list(experiment.seeds), "arms": arms}


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys whose values differ."""
    before, after = dict(flatten(old)), dict(flatten(new))
    absent = object()
    return sorted(key for key in {*before, *after} if before.get(key, absent) != after.get(key, absent))
