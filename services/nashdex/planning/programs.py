"""The module of each step, imported when the step runs: most steps need heavy libraries."""

from collections.abc import Callable
from importlib import import_module

from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
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


def step_function(name: StepName) -> StepFunction:
    """Import and return the function that runs a shard of ``name``."""
    function: StepFunction = import_module(MODULES[name]).run
    return function
