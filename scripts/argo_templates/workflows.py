"""What the WorkflowTemplates have in common: labels, clean-up, security, and the parameters that a site sets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import nashdex
from argo_templates.yaml_text import Inline, comment, shared_map, to_text, without_comments, wrapped_comment
from nashdex_cluster.client import COMPONENT_LABEL, ITERATION_LABEL, NAME_LABEL, RUN_LABEL, VERSION_LABEL
from nashdex_cluster.site import CONFIG_MAP, Site

Map = dict[str, Any]

PART_OF_LABEL = "app.kubernetes.io/part-of"

POD_SECURITY = shared_map(
    "pod-security",
    {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "seccompProfile": Inline(type="RuntimeDefault"),
    },
)
"""Restricted pod security."""

RUN = Inline(name="run", description="Id of a run that has begun.")
ITERATION = Inline(name="iteration", description="Number of the iteration, from 0.")
SHARD = Inline(name="shard", value="0", description="Number of the shard, from 0.")

_HOUR_SECONDS = 3600
_DAY_SECONDS = 24 * _HOUR_SECONDS
ITERATION_DEADLINE_SECONDS = 7 * _DAY_SECONDS
LEAGUE_DEADLINE_SECONDS = 30 * _DAY_SECONDS
MAX_PODS = 64
"""Pods of an iteration that run at once."""


SITE_KEYS = tuple(str(field.alias) for field in Site.model_fields.values())
"""Keys of the site's ConfigMap, in its order."""


def site_parameter(key: str) -> Map:
    """Return a parameter whose value is a key of the site's ConfigMap."""
    return Inline(name=key, valueFrom={"configMapKeyRef": {"name": CONFIG_MAP, "key": key}})


@dataclass(frozen=True)
class WorkflowTemplate:
    """One file of argo/."""

    heading: str
    """Comment at the top, paragraphs separated by an empty line; a paragraph that is indented is kept as it is."""
    document: Map

    @property
    def text(self) -> str:
        """The file's text."""
        paragraphs = self.heading.split("\n\n")
        comments = [f"#{part}" if part.startswith(" ") else wrapped_comment(part) for part in paragraphs]
        return "\n#\n".join(comments) + "\n" + to_text(self.document)

    @property
    def parameters(self) -> list[Map]:
        """The parameters of the Workflow."""
        parameters: list[Map] = self.document["spec"]["arguments"]["parameters"]
        return parameters


def component_labels(component: str) -> Map:
    """Return the labels of an object of one component."""
    return {NAME_LABEL: "nashdex", PART_OF_LABEL: "nashdex", COMPONENT_LABEL: component}


def workflow_template(
    heading: str,
    *,
    component: str,
    title: str,
    description: str,
    deadline_seconds: int,
    parameters: Sequence[Map],
    templates: Sequence[Map | str],
    called: Sequence[WorkflowTemplate] = (),
    extra_spec: Map | None = None,
    run_once: bool = False,
) -> WorkflowTemplate:
    """Return a WorkflowTemplate; its entrypoint is the template with the component's name.

    Args:
        heading: comment at the top of its file.
        component: name of the component, and after ``nashdex-`` of the WorkflowTemplate.
        title: shown by Argo.
        description: shown by Argo.
        deadline_seconds: after this long the Workflow fails.
        parameters: what whoever submits it sets. The site's parameters follow from the templates.
        templates: its own templates, and comments on those that follow.
        called: other WorkflowTemplates whose templates it calls; these read the parameters of the calling Workflow.
        extra_spec: further fields of the spec.
        run_once: of the check, which belongs to no run.
    """
    names = [parameter["name"] for parameter in parameters]
    labels_from = {
        label: Inline(expression=f"workflow.parameters.{name}")
        for label, name in ((RUN_LABEL, "run"), (ITERATION_LABEL, "iteration"))
        if name in names
    }
    spec = {
        "entrypoint": component,
        **(extra_spec or {}),
        "serviceAccountName": "nashdex-workflow",
        "activeDeadlineSeconds": deadline_seconds,
        **(_CHECK_CLEAN_UP if run_once else _CLEAN_UP),
        "securityContext": POD_SECURITY,
        "templateDefaults": {"securityContext": POD_SECURITY},
        "workflowMetadata": {
            "labels": component_labels(component),
            **({"labelsFrom": labels_from} if labels_from else {}),
        },
        "arguments": {"parameters": [*parameters, *_site_parameters(templates, called)]},
        comment(): None,
        "templates": _spaced(templates),
    }
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "WorkflowTemplate",
        "metadata": {
            "name": f"nashdex-{component}",
            "labels": component_labels(component) | {VERSION_LABEL: nashdex.__version__},
            "annotations": {
                "workflows.argoproj.io/title": title,
                "workflows.argoproj.io/description": description,
            },
        },
        "spec": spec,
    }
    return WorkflowTemplate(heading, document)


_CLEAN_UP = {
    "podGC": Inline(strategy="OnPodSuccess", deleteDelayDuration="120s"),
    "ttlStrategy": Inline(secondsAfterSuccess=7 * _DAY_SECONDS, secondsAfterFailure=14 * _DAY_SECONDS),
    comment("Longer than a step needs to save its state."): None,
    "podSpecPatch": '{"terminationGracePeriodSeconds": 120}',
}

_CHECK_CLEAN_UP = {
    "podGC": Inline(strategy="OnPodCompletion", deleteDelayDuration="120s"),
    comment(
        "nashdex submit skips the check while a successful one exists. After a day, keys and nodes may differ."
    ): None,
    "ttlStrategy": Inline(secondsAfterSuccess=_DAY_SECONDS, secondsAfterFailure=_HOUR_SECONDS),
}


def _spaced(templates: Sequence[Map | str]) -> list[Map | str]:
    """Return templates with an empty line before each, and none between a comment and its template."""
    spaced: list[Map | str] = []
    for template in templates:
        if spaced and not isinstance(spaced[-1], str):
            spaced.append(comment())
        spaced.append(template)
    return spaced


def _site_parameters(templates: Sequence[Map | str], called: Sequence[WorkflowTemplate]) -> list[Map]:
    """Return the Workflow's parameters that the site's ConfigMap sets: those that whoever submits may override."""
    used = set(re.findall(r"workflow\.parameters\.([a-z0-9-]+)", str(without_comments(list(templates)))))
    used |= {parameter["name"] for template in called for parameter in template.parameters}
    return [site_parameter(key) for key in SITE_KEYS if key in used]
