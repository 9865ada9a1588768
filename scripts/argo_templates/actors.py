"""The WorkflowTemplate of more actors: they join trainings that run, and leave when their Workflow is stopped."""

from argo_templates.pods import workflow_parameter
from argo_templates.steps import STEPS, collect
from argo_templates.workflows import ITERATION, ITERATION_DEADLINE_SECONDS, RUN, WorkflowTemplate, workflow_template
from argo_templates.yaml_text import Inline
from nashdex.core.steps import StepName

FIRST_SHARD = 1000
"""Above the shards that a run plans (``actors.shards`` is at most this)."""


def actors() -> WorkflowTemplate:
    """Return nashdex-actors."""
    act = StepName.ACT
    task = {
        "name": act.value,
        "templateRef": Inline(name=STEPS[act].file, template=act.value),
        "arguments": Inline(parameters=[{"name": "shard", "value": "{{item}}"}]),
        "withSequence": Inline(start=workflow_parameter("first"), count=workflow_parameter("count")),
    }
    return workflow_template(
        "More actors for an iteration that trains. They play beside the actors of the iteration's Workflow until the "
        "trainings end, or until `argo stop`.\n\n"
        "   argo submit --from workflowtemplate/nashdex-actors -p run=RUN -p iteration=3 -p count=8",
        component="actors",
        title="More actors",
        description="Adds actors to the trainings of an iteration while they run. Stop the Workflow to remove them.",
        deadline_seconds=ITERATION_DEADLINE_SECONDS,
        parameters=[
            RUN,
            ITERATION,
            Inline(name="count", value="1", description="Actors to add."),
            Inline(
                name="first",
                value=str(FIRST_SHARD),
                description="Shard of the first one. Actors of the same shard share its work.",
            ),
        ],
        templates=[{"name": "actors", "dag": {"tasks": [task]}}],
        called=[collect()],
    )
