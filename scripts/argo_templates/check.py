"""The WorkflowTemplate that tries a site: its images, room for its pods, and its store."""

from typing import Any

from argo_templates.pods import (
    COLLECTOR,
    CONTAINER_SECURITY,
    CONTROL,
    CREDENTIALS,
    EVALUATOR,
    GATEWAY_SIZE,
    STORE_ENVIRONMENT,
    TERMINATION_LOG,
    TRAINER,
    PodKind,
    Size,
    image,
    input_parameter,
    with_site,
    workflow_parameter,
)
from argo_templates.workflows import POD_SECURITY, Map, WorkflowTemplate, component_labels, workflow_template
from argo_templates.yaml_text import Inline, InlineList, comment, shared_list, shared_map
from nashdex_cluster.workflow_state import EXECUTOR_STOPPED_EARLY, SIDECAR_FAILED

_DEADLINE_SECONDS = 3600
_KINDS = {"control": CONTROL, "collect": COLLECTOR, "train": TRAINER, "evaluate": EVALUATOR}
_ARGS = {
    "collect": ["--version"],
    "train": ["check-device", f"--gpus={input_parameter('train-gpus')}"],
    "evaluate": ["--version"],
}
_METADATA = shared_map("metadata", {"labels": component_labels("check")})
_VOLUMES = shared_list("volumes", [Inline(name="tmp", emptyDir={})])
_RETRY = shared_map(
    "retry",
    {
        "limit": "2",
        "retryPolicy": "Always",
        "expression": f"asInt(lastRetry.exitCode) in {[SIDECAR_FAILED, EXECUTOR_STOPPED_EARLY]}",
    },
)
_MOUNTS = shared_list("mounts", [Inline(name="tmp", mountPath="/tmp")])


def check() -> WorkflowTemplate:
    """Return nashdex-check."""
    tasks = [Inline(name=name, template=name) for name in _KINDS]
    return workflow_template(
        "Try what runs need of a site before the first is submitted: images, room for pods, GPUs, and the store.",
        component="check",
        title="Check the site",
        description="Starts each image on its steps' nodes, computes on a GPU, writes to the store. Runs no step.",
        deadline_seconds=_DEADLINE_SECONDS,
        parameters=[],
        templates=[
            comment("Side by side. Only a failed sidecar is retried, which Argo may have stopped too early."),
            {"name": "check", "dag": {"tasks": tasks}},
            *(_pod(name, kind) for name, kind in _KINDS.items()),
        ],
        run_once=True,
    )


def _pod(name: str, kind: PodKind) -> Map:
    template = {
        "name": name,
        "metadata": _METADATA,
        "activeDeadlineSeconds": _DEADLINE_SECONDS,
        **({"retryStrategy": _RETRY} if kind.has_gateway else {}),
        "podSpecPatch": input_parameter(f"{kind.patch}-pod-patch"),
        "securityContext": POD_SECURITY,
        "volumes": _VOLUMES,
        "container": _store_check()
        if kind is CONTROL
        else _container("main", kind.image, "nashdex", _ARGS[name], kind.size),
        **(_gateway() if kind.has_gateway else {}),
    }
    return with_site(template)


def _store_check() -> Map:
    container = _container("main", CONTROL.image, "nashdex", [], CONTROL.size)
    before, after = ("name", "image", "imagePullPolicy", "command"), ("resources", "securityContext", "volumeMounts")
    return {
        **{key: container[key] for key in before},
        "args": ["check-store", f"--store={workflow_parameter('store')}"],
        "env": [*container["env"], *STORE_ENVIRONMENT],
        "envFrom": CREDENTIALS,
        **{key: container[key] for key in after},
    }


def _gateway() -> Map:
    return {
        comment("The step's patch also has this container, and without an image it would be invalid."): None,
        "sidecars": _GATEWAY,
    }


def _container(name: str, image_name: str, command: str, args: list[str], size: Size) -> Map:
    container: dict[str, Any] = {
        "name": name,
        **image(image_name),
        "command": InlineList([command]),
        "args": InlineList(args),
        **({"env": [TERMINATION_LOG]} if name == "main" else {}),
        "resources": size.resources,
        "securityContext": CONTAINER_SECURITY,
        "volumeMounts": _MOUNTS,
    }
    return container


_GATEWAY = shared_list(
    "gateway", [_container("showdown", "showdown", "nashdex-showdown", ["gateway", "--version"], GATEWAY_SIZE)]
)
