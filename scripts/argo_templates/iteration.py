"""The WorkflowTemplate of an iteration: the plan's steps and edges as a DAG."""

from argo_templates.pods import workflow_parameter
from argo_templates.steps import STEPS, exit_handler, step_templates
from argo_templates.workflows import (
    ITERATION,
    ITERATION_DEADLINE_SECONDS,
    MAX_PODS,
    RUN,
    Map,
    WorkflowTemplate,
    workflow_template,
)
from argo_templates.yaml_text import Inline, comment
from nashdex.core.steps import StepName
from nashdex.planning.dag import FAN_OUT_PARAMETERS, PlannedStep, iteration_steps
from nashdex.settings.run import RunSettings

_EVERY_STEP = iteration_steps(RunSettings.model_validate({"gate": {"test": "sprt"}}))
_ALWAYS = {step.name for step in iteration_steps(RunSettings.model_validate({"actors": {"shards": 0}}))}
_VERDICT = {"templateRef": Inline(name="nashdex-solve", template="verdict")}
_SKIPPED = {
    StepName.ACT: "Plays the trainings' battles beside them. Skipped if they need none.",
    StepName.GATE: "Skipped if the run has no gate; the tasks after it run all the same.",
}


def iteration() -> WorkflowTemplate:
    """Return nashdex-iteration."""
    return workflow_template(
        "One iteration: the DAG of nashdex.planning.dag, one pod a step and shard.\n\n"
        "   argo submit --from workflowtemplate/nashdex-iteration -p run=RUN -p iteration=3",
        component="iteration",
        title="One iteration",
        description="Runs an iteration of a run. Steps that are done already are not repeated.",
        deadline_seconds=ITERATION_DEADLINE_SECONDS,
        parameters=[RUN, ITERATION],
        templates=[{"name": "iteration", "dag": {"tasks": _tasks()}}, exit_handler("verdict", _VERDICT)],
        called=[build() for build in step_templates().values()],
        extra_spec={
            "onExit": "verdict",
            "parallelism": MAX_PODS,
            comment("Two workflows of one run would do the same work twice, so the second waits."): None,
            "synchronization": {"mutexes": [{"name": f"nashdex-{workflow_parameter('run')}"}]},
        },
    )


def _tasks() -> list[Map | str]:
    tasks: list[Map | str] = []
    for step in _EVERY_STEP:
        if step.name not in _ALWAYS:
            tasks.append(comment(_SKIPPED[step.name]))
        tasks.append(_task(step))
    return tasks


def _task(step: PlannedStep) -> Map:
    task: Map = {"name": step.name.value}
    if step.after:
        task["depends"] = " && ".join(step.after)
    reference = {"templateRef": Inline(name=STEPS[step.name].file, template=step.name.value)}
    if step.fan_out is None:
        return task | reference
    num_shards = f"{{{{tasks.plan.outputs.parameters.{FAN_OUT_PARAMETERS[step.name]}}}}}"
    if step.name not in _ALWAYS:
        task["when"] = f"{num_shards} > 0"
    return {
        **task,
        **reference,
        "arguments": Inline(parameters=[{"name": "shard", "value": "{{item}}"}]),
        "withSequence": Inline(count=num_shards),
    }
