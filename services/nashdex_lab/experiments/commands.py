"""The commands of an experiment: each run, and each of its matches, is an ordinary command that anyone can repeat."""

import shlex
from collections.abc import Mapping, Sequence

from nashdex.core.ids import GREEDY, SAMPLED, PolicyId, RunId, run_id
from nashdex.core.references import NASH, PolicyReference
from nashdex.core.seeds import derive_seed
from nashdex_lab.experiments.plan import ExploiterSettings, Measurement, Plan, PlannedRun

_SEEDS = 2**31
"""Seeds below this are short enough to type."""


def run_arguments(plan: Plan, run: PlannedRun, store: str) -> list[str]:
    """Return the arguments of ``nashdex`` that start or continue a run on this machine."""
    processes = str(plan.experiment.processes)
    return ["run", str(plan.base), "--store", store, "--run", run.stored, "--processes", processes, *_changed(run)]


def submit_arguments(plan: Plan, run: PlannedRun, options: Sequence[str]) -> list[str]:
    """Return the arguments of ``nashdex`` that start or continue a run on a cluster, and wait until it ends.

    ``options`` say which cluster, such as ``--namespace`` with its name.
    """
    return ["submit", str(plan.base), "--run", run.stored, "--attach", "--wait", *options, *_changed(run)]


def _changed(run: PlannedRun) -> list[str]:
    return [argument for override in run.overrides for argument in ("--set", override)]


def match_arguments(
    measure: Measurement, game_format: str, run_uri: str, policy: PolicyId | None, anchor: str, seed: int
) -> list[str]:
    """Return the arguments of ``nashdex`` that play a run's policy, or its mixture without one, against an anchor.

    Battles follow from the run's ``seed`` and not from its arm: arms of one seed meet the same teams, and seeds meet
    different ones.
    """
    temperature = GREEDY if policy is not None and measure.style == "greedy" else SAMPLED
    played = str(PolicyReference(NASH if policy is None else policy, run_uri, temperature))
    battles_seed = derive_seed(measure.seed, "experiment", seed) % _SEEDS
    options = {"--format": game_format, "--battles": measure.battles, "--seed": battles_seed}
    return ["battle", "--p1", played, "--p2", anchor, *_typed_options(options), "--json"]


def exploit_arguments(
    plan: Plan, run: PlannedRun, policy: PolicyId | None, measure: ExploiterSettings, store: str
) -> list[str]:
    """Return the arguments of ``nashdex`` that train an exploiter as a run of its own.

    Its target is a run's policy, or the run's mixture without one.

    Its seed is the run's, so that exploiters of arms of one seed meet the same teams.
    """
    options = {
        "--oracle": "ppo",
        "--decisions": measure.decisions,
        "--battles": measure.battles,
        "--seed": run.seed,
        "--store": store,
        "--run": exploiter_id(run),
        "--processes": plan.experiment.processes,
    }
    target = PolicyReference(NASH if policy is None else policy, f"{store}/{run.stored}")
    return ["exploit", str(target), "--from-target", *_typed_options(options), "--json"]


def exploiter_id(run: PlannedRun) -> RunId:
    """Return the id of the exploiter's own run.

    Raises:
        ConfigurationError: it is too long.
    """
    return run_id(f"{run.id}-exploiter")


def _typed_options(options: Mapping[str, object]) -> list[str]:
    return [str(part) for option in options.items() for part in option]


def as_typed(arguments: Sequence[str]) -> str:
    """Return the command as a person types it."""
    return shlex.join(["nashdex", *arguments])
