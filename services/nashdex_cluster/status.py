"""Progress of a run on a cluster, from its Workflows alone, because the store may be unreachable."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from nashdex.core.errors import ConfigurationError, DataError, ExitCode, NashdexError, TryAgainError
from nashdex.core.steps import StepName
from nashdex.planning.dag import FAN_OUT_PARAMETERS
from nashdex_cluster.workflow_state import (
    ACTORS_TEMPLATE,
    ITERATION_TEMPLATE,
    LEAGUE_TEMPLATE,
    Shard,
    WorkflowState,
)

BEGIN_OUTPUTS = frozenset({"first-iteration", "num-iterations"})
"""Outputs of the league's begin step: the first iteration without a report, and the number from there on."""
_FAILED = {"Failed", "Error"}
_STOPPED_MESSAGE = "Stopped with strategy"
"""Begin of Argo's message of a Workflow that `nashdex stop` or `argo stop` ended; its phase is Failed."""
_SHUT_DOWN_MESSAGE = "workflow shutdown with strategy"
"""Begin of Argo's message of a pod of such a Workflow."""
_FAIL_AFTER_OTHERS = {"workflow", "verdict"}
"""Templates that fail because others failed: the league's pod of an iteration's Workflow, and the exit handler."""
_ORDER = ("Failed", "Error", "Running", "Pending", "Succeeded", "Skipped", "Omitted")
"""Precedence of phases: a step shows the first that any of its shards has."""
_FAILURES: dict[int, type[NashdexError]] = {
    ExitCode.CONFIGURATION: ConfigurationError,
    ExitCode.DATA: DataError,
}


def is_stopped(phase: str, message: str) -> bool:
    """Return whether somebody stopped a Workflow of this phase and message."""
    return phase in _FAILED and message.startswith(_STOPPED_MESSAGE)


@dataclass(frozen=True)
class StepStatus:
    """One step of one iteration."""

    step: str
    phase: str
    shards: int
    done: int
    tries: int
    """Attempts over all shards."""
    seconds: float | None
    message: str


@dataclass(frozen=True)
class IterationStatus:
    """One iteration, from its newest Workflow."""

    iteration: int
    workflow: str
    phase: str
    seconds: float | None
    message: str
    steps: tuple[StepStatus, ...]


@dataclass(frozen=True)
class RunStatus:
    """One run."""

    run: str
    phase: str
    workflow: str
    """Its newest league, or without one its newest iteration."""
    message: str
    last: int | None
    """The last iteration that was submitted."""
    seconds: float | None
    iterations: tuple[IterationStatus, ...]

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.phase in {"Succeeded", "Failed", "Error"}

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return asdict(self)


def run_status(run: str, workflows: Iterable[WorkflowState], now: datetime | None = None) -> RunStatus:
    """Return the progress of a run.

    Raises:
        DataError: it has no Workflow.
    """
    now = now or datetime.now(UTC)
    # Actors that were added to an iteration do not say how it goes.
    steps = (workflow for workflow in workflows if workflow.template != ACTORS_TEMPLATE)
    ordered = sorted(steps, key=lambda workflow: (workflow.created, workflow.name))
    if not ordered:
        raise DataError(
            f"run {run} has no workflow; expected a run that `nashdex status` lists, in the namespace that -n names. "
            "Argo deletes old workflows; the results of a run are in its store"
        )
    leagues = [workflow for workflow in ordered if workflow.template == LEAGUE_TEMPLATE]
    newest = {
        workflow.iteration: workflow
        for workflow in ordered
        if workflow.iteration is not None and workflow.template == ITERATION_TEMPLATE
    }
    leading = leagues[-1] if leagues else ordered[-1]
    iterations = tuple(_iteration(iteration, newest[iteration], now) for iteration in sorted(newest))
    failed = (shard.message for shard in leading.shards if shard.phase in _FAILED and shard.step == "begin")
    return RunStatus(
        run=run,
        phase=leading.phase,
        workflow=leading.name,
        message=next(failed, leading.message),
        last=last_iteration(leading),
        seconds=_seconds(leading.began, leading.ended, now),
        iterations=iterations,
    )


def last_iteration(workflow: WorkflowState) -> int | None:
    """Return the last iteration that a Workflow runs; None if it is a league that has not begun."""
    if workflow.template != LEAGUE_TEMPLATE:
        return workflow.iteration
    if not workflow.outputs.keys() >= BEGIN_OUTPUTS:
        return None
    return sum(int(workflow.outputs[name]) for name in BEGIN_OUTPUTS) - 1


def failure(run: str, workflows: Iterable[WorkflowState]) -> NashdexError | None:
    """Return the first failure of a run that has ended; None if it succeeded."""
    workflows = list(workflows)
    status = run_status(run, workflows)
    if status.phase == "Succeeded":
        return None
    stopped = is_stopped(status.phase, status.message)
    newest = {status.workflow, *(iteration.workflow for iteration in status.iterations)}
    failed = [
        (shard.ended or workflow.created, workflow, shard)
        for workflow in workflows
        if workflow.name in newest
        for shard in workflow.shards
        if shard.phase in _FAILED
        and shard.step not in _FAIL_AFTER_OTHERS
        and not (stopped and shard.message.startswith(_SHUT_DOWN_MESSAGE))
    ]
    if not failed and stopped:
        return TryAgainError(f"run {run} was stopped; `nashdex resume {run}` continues it")
    if not failed:
        return TryAgainError(f"run {run}: workflow {status.workflow} ended: {status.phase} {status.message}")
    _, workflow, shard = min(failed, key=lambda entry: entry[0])
    where = f"{shard.step} of iteration {workflow.iteration}" if workflow.iteration is not None else shard.step
    kind = _FAILURES.get(shard.exit_code or 0, TryAgainError)
    return kind(f"run {run}: {where}, shard {shard.number}: {shard.message}")


def _iteration(iteration: int, workflow: WorkflowState, now: datetime) -> IterationStatus:
    by_step: dict[str, list[Shard]] = {}
    for shard in workflow.shards:
        by_step.setdefault(shard.step, []).append(shard)
    steps = tuple(_step(name, by_step.get(name, []), workflow, now) for name in StepName)
    # A Workflow that is stopped after its report has done its work: no other one repeats it.
    reported = any(step.step == StepName.REPORT and step.phase == "Succeeded" for step in steps)
    is_done = reported and is_stopped(workflow.phase, workflow.message)
    return IterationStatus(
        iteration=iteration,
        workflow=workflow.name,
        phase="Succeeded" if is_done else workflow.phase,
        seconds=_seconds(workflow.began, workflow.ended, now),
        message="" if is_done else workflow.message,
        steps=steps,
    )


def _step(name: StepName, shards: list[Shard], workflow: WorkflowState, now: datetime) -> StepStatus:
    planned = 1
    if name in FAN_OUT_PARAMETERS:
        planned = int(workflow.outputs.get(FAN_OUT_PARAMETERS[name], 0))
    ran = [shard for shard in shards if shard.phase not in {"Skipped", "Omitted"}]
    if workflow.outputs and planned == 0:
        return StepStatus(str(name), "Skipped", 0, 0, 0, None, "")
    phase = next((phase for phase in _ORDER if any(shard.phase == phase for shard in shards)), "")
    done = sum(shard.phase == "Succeeded" for shard in ran)
    if phase == "Succeeded" and done < planned:
        phase = "Running"
    began = min((shard.began for shard in ran if shard.began), default=None)
    all_ended = bool(ran) and all(shard.ended for shard in ran)
    ended = max((shard.ended for shard in ran if shard.ended), default=None) if all_ended else workflow.ended
    messages = [shard for shard in ran if shard.message and shard.phase != "Succeeded"]
    return StepStatus(
        step=str(name),
        phase=phase,
        shards=max(planned, len(ran)),
        done=done,
        tries=sum(shard.tries for shard in ran),
        seconds=_seconds(began, ended, now),
        message=f"shard {messages[0].number}: {messages[0].message}" if messages else "",
    )


def _seconds(began: datetime | None, ended: datetime | None, now: datetime) -> float | None:
    return None if began is None else round(((ended or now) - began).total_seconds(), 1)
