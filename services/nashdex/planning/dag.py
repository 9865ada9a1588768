"""The DAG of an iteration as plain data: its steps, their modules, their order, and their number of shards.

Both executors of a run, the local runner and Argo's workflows, follow it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.oracles.registry import needs_actors
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore

StepFunction = Callable[[ObjectStore, RunSettings, int, int], Manifest]
"""Takes the run's store and settings, the iteration and the shard. Returns at once if the shard is done already."""

MODULES = {
    StepName.PLAN: "nashdex.planning.step",
    StepName.COLLECT: "nashdex.collector.step",
    StepName.TRAIN: "nashdex.trainer.step",
    StepName.ACT: "nashdex.actor.step",
    StepName.GATE: "nashdex.evaluator.gate",
    StepName.EVALUATE: "nashdex.evaluator.step",
    StepName.SOLVE: "nashdex.solver.step",
    StepName.REPORT: "nashdex.report.step",
}
"""Each has a function ``run`` of the type StepFunction."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of every iteration."""

    name: StepName
    after: tuple[StepName, ...]
    """Steps of the same iteration that must be done, in all shards, before any shard of this one starts."""
    fan_out: tuple[str, str] | None
    """Section and key of the setting that gives the number of shards; None for a single shard."""
    is_service: bool = False
    """Whether it runs beside another step and ends with it."""


_ACT = PlannedStep(StepName.ACT, after=(StepName.COLLECT,), fan_out=("actors", "shards"), is_service=True)
_GATE = PlannedStep(StepName.GATE, after=(StepName.TRAIN,), fan_out=("train", "seeds"))


def iteration_steps(settings: RunSettings) -> tuple[PlannedStep, ...]:
    """Return the steps of every iteration of a run, in an order in which they may run."""
    gates = (_GATE,) if settings.num_gates else ()
    actors = (_ACT,) if needs_actors(settings) else ()
    return (
        PlannedStep(StepName.PLAN, after=(), fan_out=None),
        PlannedStep(StepName.COLLECT, after=(StepName.PLAN,), fan_out=("collect", "shards")),
        PlannedStep(StepName.TRAIN, after=(StepName.COLLECT,), fan_out=("train", "seeds")),
        *actors,
        *gates,
        PlannedStep(
            StepName.EVALUATE, after=(StepName.GATE if gates else StepName.TRAIN,), fan_out=("evaluate", "shards")
        ),
        PlannedStep(StepName.SOLVE, after=(StepName.EVALUATE,), fan_out=None),
        # The report counts what actors cost, so it waits until they have ended.
        PlannedStep(StepName.REPORT, after=(StepName.SOLVE, *(step.name for step in actors)), fan_out=None),
    )


def num_shards(settings: RunSettings, name: StepName) -> int:
    """Return the number of shards of ``name`` under ``settings``: 0 if the run has no such step."""
    step = next((step for step in iteration_steps(settings) if step.name == name), None)
    if step is None:
        return 0
    if step.fan_out is None:
        return 1
    section, key = step.fan_out
    shards: int = getattr(getattr(settings, section), key)
    return shards


FAN_OUT_PARAMETERS: Final[Mapping[StepName, str]] = {
    StepName.COLLECT: "collect-shards",
    StepName.TRAIN: "train-seeds",
    StepName.ACT: "act-shards",
    StepName.GATE: "gates",
    StepName.EVALUATE: "evaluate-shards",
}
"""The workflow's parameter with the number of shards, by step that fans out."""


def fan_out(settings: RunSettings) -> dict[str, int]:
    """Return the number of shards of each step that fans out, by the name of the workflow's parameter."""
    return {parameter: num_shards(settings, step) for step, parameter in FAN_OUT_PARAMETERS.items()}


def step_function(name: StepName) -> StepFunction:
    """Import and return the function that runs a shard of ``name``; most steps need heavy libraries."""
    function: StepFunction = import_module(MODULES[name]).run
    return function
