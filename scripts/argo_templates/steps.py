"""The WorkflowTemplates with the pods of an iteration's steps, and its exit handler."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from argo_templates.pods import (
    COLLECTOR,
    CONTROL,
    EVALUATOR,
    TRAINER,
    PodKind,
    input_parameter,
    pod,
    workflow_parameter,
)
from argo_templates.workflows import ITERATION, RUN, SHARD, Map, WorkflowTemplate, workflow_template
from argo_templates.yaml_text import Inline, InlineList, comment
from nashdex.core.steps import StepName
from nashdex.planning.dag import FAN_OUT_PARAMETERS

_HOUR_SECONDS = 3600
OUTPUTS = "/tmp/outputs"
_MAX_FAILURES_BYTES = 48_000

RUN_URI = f"{workflow_parameter('store')}/{workflow_parameter('run')}"


@dataclass(frozen=True)
class StepPods:
    """The pods of one step."""

    file: str
    """The WorkflowTemplate that has their template."""
    kind: PodKind
    deadline_seconds: int


STEPS: Mapping[StepName, StepPods] = {
    StepName.COLLECT: StepPods("nashdex-collect", COLLECTOR, 12 * _HOUR_SECONDS),
    StepName.TRAIN: StepPods("nashdex-train", TRAINER, 24 * _HOUR_SECONDS),
    StepName.ACT: StepPods("nashdex-collect", COLLECTOR, 24 * _HOUR_SECONDS),
    StepName.EVALUATE: StepPods("nashdex-evaluate", EVALUATOR, 12 * _HOUR_SECONDS),
    StepName.GATE: StepPods("nashdex-evaluate", EVALUATOR, 12 * _HOUR_SECONDS),
    StepName.SOLVE: StepPods("nashdex-solve", CONTROL, 6 * _HOUR_SECONDS),
    StepName.PLAN: StepPods("nashdex-solve", CONTROL, 2 * _HOUR_SECONDS),
    StepName.REPORT: StepPods("nashdex-solve", CONTROL, 2 * _HOUR_SECONDS),
}


def step_pod(step: StepName) -> Map:
    """Return the template of the pods of a step."""
    is_sharded = step in FAN_OUT_PARAMETERS
    args = [
        "step",
        step.value,
        f"--run={RUN_URI}",
        f"--iteration={workflow_parameter('iteration')}",
        f"--shard={input_parameter('shard') if is_sharded else 0}",
    ]
    outputs = None
    if step is StepName.PLAN:
        args.append(f"--outputs={OUTPUTS}")
        outputs = {
            "parameters": [
                Inline(name=name, valueFrom={"path": f"{OUTPUTS}/{name}"}) for name in FAN_OUT_PARAMETERS.values()
            ]
        }
    pods = STEPS[step]
    return pod(
        step.value, pods.kind, args, deadline_seconds=pods.deadline_seconds, outputs=outputs, is_sharded=is_sharded
    )


def exit_handler(name: str, verdict: Map, when: str = "") -> Map:
    """Return the exit handler called ``name``, a DAG: the pod that ``verdict`` names, if ``when`` is true or empty."""
    values = {
        "status": "{{workflow.status}}",
        # Linux limits an argument to 128 KiB. Argo's list grows with every failed attempt; `nashdex verdict` reads a
        # list that is cut off.
        "failures": f"{{{{=sprig.trunc({_MAX_FAILURES_BYTES}, workflow.failures)}}}}",
    }
    task = {
        "name": "verdict",
        **verdict,
        **({"when": when} if when else {}),
        "arguments": {"parameters": [Inline(name=name, value=value) for name, value in values.items()]},
    }
    return {"name": name, "dag": {"tasks": [task]}}


def verdict_pod(what: str, *, has_iteration: bool = True) -> Map:
    """Return the template of the pod of an exit handler. ``what`` are the arguments that say what has ended."""
    return pod(
        "verdict",
        CONTROL,
        [
            "verdict",
            f"--run={RUN_URI}",
            what,
            f"--status={input_parameter('status')}",
            f"--failures={input_parameter('failures')}",
        ],
        deadline_seconds=_HOUR_SECONDS // 2,
        inputs={
            "parameters": [
                Inline(
                    name="status",
                    enum=InlineList(["Succeeded", "Failed", "Error"]),
                    description="How the workflow ended.",
                ),
                Inline(name="failures", default="[]", description="Its failed nodes, as Argo lists them."),
            ]
        },
        has_iteration=has_iteration,
    )


@cache
def collect() -> WorkflowTemplate:
    """Return nashdex-collect."""
    return workflow_template(
        "Play the battles that trainings learn from: one pod a shard, with the battle gateway as its sidecar.",
        component="collect",
        title="Collect one shard",
        description="Plays a shard's battles. Template act plays what trainings ask for, until they are done.",
        deadline_seconds=48 * _HOUR_SECONDS,
        parameters=[RUN, ITERATION, SHARD],
        templates=[step_pod(StepName.COLLECT), step_pod(StepName.ACT)],
    )


@cache
def train() -> WorkflowTemplate:
    """Return nashdex-train."""
    return workflow_template(
        "Train a best response: one pod a seed. The site's gpu-semaphore limits how many run at once in the namespace.",
        component="train",
        title="Train one seed",
        description="Trains one policy of the iteration: a best response, or the first network.",
        deadline_seconds=96 * _HOUR_SECONDS,
        parameters=[RUN, ITERATION, SHARD],
        templates=[step_pod(StepName.TRAIN)],
    )


@cache
def evaluate() -> WorkflowTemplate:
    """Return nashdex-evaluate."""
    return workflow_template(
        "Play the battles that are counted: payoff cells, and the gate of a new policy. The gateway is the sidecar.",
        component="evaluate",
        title="Evaluate one shard",
        description="Plays a shard of payoff cells. Template gate plays a new policy against its parent.",
        deadline_seconds=48 * _HOUR_SECONDS,
        parameters=[RUN, ITERATION, SHARD],
        templates=[step_pod(StepName.EVALUATE), step_pod(StepName.GATE)],
    )


@cache
def solve() -> WorkflowTemplate:
    """Return nashdex-solve."""
    return workflow_template(
        "The steps that need neither battles nor a network: plan, solve and report; and the verdict, an exit handler.",
        component="solve",
        title="Solve an iteration",
        description="Solves the empirical game of an iteration whose payoffs are complete.",
        deadline_seconds=24 * _HOUR_SECONDS,
        parameters=[RUN, ITERATION],
        templates=[
            *(step_pod(step) for step in (StepName.SOLVE, StepName.PLAN, StepName.REPORT)),
            comment("The exit handler of an iteration; it also runs after a failure and after a stop."),
            verdict_pod(f"--iteration={workflow_parameter('iteration')}"),
        ],
    )


def step_templates() -> dict[str, Callable[[], WorkflowTemplate]]:
    """Return what builds each WorkflowTemplate of steps, by its name."""
    return {"nashdex-collect": collect, "nashdex-train": train, "nashdex-evaluate": evaluate, "nashdex-solve": solve}
