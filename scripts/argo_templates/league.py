"""The WorkflowTemplate of a whole run: begin it, then one Workflow an iteration."""

from collections.abc import Sequence

from argo_templates.pods import CONTROL, RETRY, input_parameter, pod, with_site, workflow_parameter
from argo_templates.steps import OUTPUTS, exit_handler, verdict_pod
from argo_templates.workflows import (
    ITERATION_DEADLINE_SECONDS,
    LEAGUE_DEADLINE_SECONDS,
    POD_SECURITY,
    Map,
    WorkflowTemplate,
    component_labels,
    workflow_template,
)
from argo_templates.yaml_text import Inline, Literal, comment, to_text
from nashdex_cluster.client import ITERATION_LABEL, RUN_LABEL
from nashdex_cluster.status import BEGIN_OUTPUTS

_HOUR_SECONDS = 3600
_BUNDLE = "/nashdex/bundle.json"
_ITERATION_INPUT = {"parameters": [{"name": "iteration"}]}


def league() -> WorkflowTemplate:
    """Return nashdex-league."""
    return workflow_template(
        "A run of many iterations: one Workflow each, so that none grows large and each can be repeated by itself.",
        component="league",
        title="A run's iterations",
        description="Begins a run and runs its iterations in turn, each as its own Workflow.",
        deadline_seconds=LEAGUE_DEADLINE_SECONDS,
        parameters=[
            Inline(name="run", description="Id of the run."),
            Inline(
                name="bundle",
                value="",
                description="Settings and files, packed by nashdex submit; empty if the run has begun.",
            ),
        ],
        templates=[
            begin_then_iterations("league", {"template": "iterations"}),
            _begin(),
            comment(_IN_TURN),
            _iterations(),
            _iteration(),
            _workflow(),
            comment(_ENDED_OUTSIDE),
            end_of_league({"template": "verdict"}),
            verdict_pod("--since={{workflow.creationTimestamp.s}}", has_iteration=False),
        ],
        extra_spec={"onExit": ON_EXIT},
    )


_IN_TURN = (
    "One after another: a sequence starts its items in order, one at a time, and ends with the first that fails. The "
    "items are DAGs without retries of their own, because failFast takes a failed attempt for the end."
)


ON_EXIT = "end"
_ENDED_OUTSIDE = (
    "The exit handler writes the verdict on a run that ends outside an iteration: it could not begin, or was stopped "
    "between two. An iteration has written its own by then, or writes it later and replaces this one."
)


def end_of_league(verdict: Map) -> Map:
    """Return the exit handler of a league, whose pod ``verdict`` names. Its last iteration says that it succeeded."""
    return exit_handler(ON_EXIT, verdict, "{{workflow.status}} != Succeeded")


def begin_then_iterations(name: str, iterations: Map) -> Map:
    """Return the DAG called ``name``: template ``begin``, then what runs the iterations that it leaves."""
    outputs = [
        Inline(name=output, value=f"{{{{tasks.begin.outputs.parameters.{output}}}}}")
        for output in sorted(BEGIN_OUTPUTS)
    ]
    tasks = [
        {"name": "begin", "template": "begin"},
        {"name": "iterations", "depends": "begin", **iterations, "arguments": {"parameters": outputs}},
    ]
    return {"name": name, "dag": {"tasks": tasks}}


def begin_pod(args: Sequence[str], inputs: Map | None = None) -> Map:
    """Return the template ``begin``: a command that creates a run and writes which iterations are left."""
    outputs = [Inline(name=name, valueFrom={"path": f"{OUTPUTS}/{name}"}) for name in sorted(BEGIN_OUTPUTS)]
    return pod(
        "begin",
        CONTROL,
        [*args, f"--outputs={OUTPUTS}"],
        deadline_seconds=_HOUR_SECONDS // 2,
        inputs=inputs,
        outputs={"parameters": outputs},
        has_iteration=False,
    )


def _begin() -> Map:
    # With an end of line, because an artifact may not be empty.
    bundle = Inline(name="bundle", path=_BUNDLE, raw={"data": f"{workflow_parameter('bundle')}\n"})
    args = [
        "begin",
        f"--bundle={_BUNDLE}",
        f"--run={workflow_parameter('run')}",
        f"--store={workflow_parameter('store')}",
    ]
    return begin_pod(args, inputs={"artifacts": [bundle]})


def _iterations() -> Map:
    step = {
        "name": "iteration",
        "template": "iteration",
        "arguments": Inline(parameters=[{"name": "iteration", "value": "{{item}}"}]),
        "withSequence": Inline(
            start=input_parameter("first-iteration"),
            count=input_parameter("num-iterations"),
        ),
    }
    inputs = {"parameters": [Inline(name=name) for name in sorted(BEGIN_OUTPUTS)]}
    return {"name": "iterations", "inputs": inputs, "parallelism": 1, "failFast": True, "steps": [[step]]}


def _iteration() -> Map:
    task = {
        "name": "workflow",
        "template": "workflow",
        "arguments": Inline(parameters=[{"name": "iteration", "value": input_parameter("iteration")}]),
    }
    return {"name": "iteration", "inputs": _ITERATION_INPUT, "dag": {"tasks": [task]}}


def _workflow() -> Map:
    """Return the template that creates an iteration's Workflow and waits until it ends."""
    labels = {RUN_LABEL: workflow_parameter("run"), ITERATION_LABEL: input_parameter("iteration")}
    parameters = {"run": workflow_parameter("run"), "iteration": input_parameter("iteration")}
    manifest = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "name": f"{{{{workflow.name}}}}-{input_parameter('iteration')}",
            "labels": component_labels("iteration") | labels,
        },
        "spec": {
            "workflowTemplateRef": Inline(name="nashdex-iteration"),
            "arguments": {"parameters": [Inline(name=name, value=value) for name, value in parameters.items()]},
        },
    }
    template = {
        "name": "workflow",
        "inputs": _ITERATION_INPUT,
        "metadata": {"labels": component_labels("league") | labels},
        "serviceAccountName": "nashdex-league",
        "securityContext": POD_SECURITY,
        "activeDeadlineSeconds": ITERATION_DEADLINE_SECONDS,
        "retryStrategy": RETRY,
        "podSpecPatch": input_parameter("league-pod-patch"),
        "resource": {
            comment(
                "Applied under a fixed name, so that a retried pod finds the Workflow of the attempt before."
            ): None,
            "action": "apply",
            "setOwnerReference": True,
            "successCondition": "status.phase == Succeeded",
            "failureCondition": "status.phase in (Failed, Error)",
            "manifest": Literal(to_text(manifest)),
        },
    }
    return with_site(template)
