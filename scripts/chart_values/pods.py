"""Values of pods: settings that every component has under the same names, and each component's own."""

from typing import Literal

from pydantic import Field

from argo_templates.pods import COLLECTOR, CONTROL, GATEWAY_SIZE, TRAINER, Size
from argo_templates.yaml_text import without_comments
from chart_values.base import KubernetesObject, Values


class ResourceValues(Values):
    """A container's requests and limits."""

    requests: dict[str, str | int | float] = Field({}, description="Requests by resource.")
    limits: dict[str, str | int | float] = Field({}, description="Limits by resource.")


def sized(size: Size) -> ResourceValues:
    """Return the values of a size."""
    return ResourceValues.model_validate(without_comments(size.resources))


class PodValues(Values):
    """Settings that every component's pods take."""

    resources: ResourceValues = Field(ResourceValues(), description="Requests and limits of the main container.")
    node_selector: dict[str, str] = Field({}, description="Node selector.")
    tolerations: list[KubernetesObject] = Field([], description="Tolerations.")
    affinity: KubernetesObject = Field({}, description="Affinity and anti-affinity.")
    priority_class_name: str = Field("", description="PriorityClass.")
    runtime_class_name: str = Field("", description="RuntimeClass, such as `nvidia`.")
    extra_env: list[KubernetesObject] = Field([], description="More environment variables of the main container.")
    extra_volumes: list[KubernetesObject] = Field([], description="More volumes.")
    extra_volume_mounts: list[KubernetesObject] = Field([], description="More volume mounts of the main container.")
    topology_spread_constraints: list[KubernetesObject] = Field([], description="Topology spread constraints.")
    termination_grace_period_seconds: int | None = Field(
        None, ge=1, le=3600, description="Seconds between SIGTERM and SIGKILL. Default: 120 for steps, else 30."
    )
    pod_labels: dict[str, str] = Field({}, description="More labels of the pods.")
    pod_annotations: dict[str, str] = Field({}, description="More annotations of the pods.")
    protect_from_eviction: bool = Field(
        default=False,
        description="Annotate the pods, so that the cluster autoscaler and Karpenter do not remove their nodes. It "
        "blocks neither `kubectl drain` nor spot reclaims.",
    )


class StepValues(PodValues):
    """Pods of a step."""

    deadline_seconds: int | None = Field(
        None, ge=60, description="Longest time of one attempt. Default: what the WorkflowTemplates in argo/ say."
    )


class SidecarValues(Values):
    """The battle gateway beside a step."""

    resources: ResourceValues = Field(sized(GATEWAY_SIZE), description="Requests and limits of the gateway.")


class BattleStepValues(StepValues):
    """A step that plays battles."""

    resources: ResourceValues = Field(sized(COLLECTOR.size), description="Requests and limits of the main container.")
    showdown: SidecarValues = Field(SidecarValues(), description="The battle gateway, a sidecar.")


class PlayerValues(Values):
    """A player of another program: an image beside each evaluator, which listens or plays by websocket."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,39}[a-z0-9])?$", description="Runs name it as `external:NAME`.")
    image: str = Field(min_length=1, description="Image, with its tag or digest.")
    command: list[str] = Field([], description="Command. Default: the image's entry point.")
    args: list[str] = Field([], description="Arguments.")
    port: int = Field(
        ge=1024, le=65535, description="Port of 127.0.0.1 that it listens at; with `username`, of its Showdown server."
    )
    username: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9]{1,18}$",
        description="It plays by websocket as this user, on a Showdown server of its own, and accepts challenges.",
    )
    env: list[KubernetesObject] = Field([], description="Environment variables. Credentials by `secretKeyRef`.")
    resources: ResourceValues = Field(ResourceValues(), description="Requests and limits.")
    decision_seconds: float | None = Field(None, gt=0, le=3600, description="Longest time for one decision.")
    start_seconds: float | None = Field(None, gt=0, le=3600, description="Longest time until it listens and is loaded.")
    at_once: int | None = Field(None, ge=1, le=64, description="Battles at once.")


class EvaluateValues(BattleStepValues):
    """The steps evaluate and gate."""

    players: list[PlayerValues] = Field(
        [],
        description="Players of other programs that runs may have as members. Each is a sidecar of the step's pods: "
        "`{name, image, command, args, port, username, env, resources, decisionSeconds, startSeconds, atOnce}`.",
    )


class TrainValues(StepValues):
    """The train step."""

    resources: ResourceValues = Field(sized(TRAINER.size), description="Requests and limits of the main container.")

    gpus: int = Field(
        0,
        ge=0,
        le=64,
        description="GPUs of a trainer's pod: `train.num_processes` of its runs. 0 for runs with "
        '`train.device = "cpu"`.',
    )
    gpu_resource: str = Field("nvidia.com/gpu", min_length=1, description="Resource name of the GPUs.")
    shared_memory: str = Field("8Gi", min_length=1, description="Size limit of /dev/shm.")


class ControlValues(StepValues):
    """The steps that need neither battles nor a network."""

    resources: ResourceValues = Field(sized(CONTROL.size), description="Requests and limits of the main container.")


class ExporterValues(PodValues):
    """The exporter: results of active runs as metrics."""

    enabled: bool = Field(default=True, description="Install it.")
    policies: int = Field(
        default=20,
        ge=0,
        le=1000,
        description="Policies of a run with time series of their own. The others share a few, however many they are.",
    )
    resources: ResourceValues = Field(
        sized(Size("10m", "128Mi", "256Mi")), description="Requests and limits of the main container."
    )


class ShowdownServerValues(PodValues):
    """The stock Showdown server, for people and external agents. Runs do not need it."""

    enabled: bool = Field(
        default=False, description="Install it. Everyone who can reach it can play: it does not authenticate."
    )
    resources: ResourceValues = Field(
        sized(Size("100m", "512Mi", "3Gi")), description="Requests and limits of the main container."
    )
    service_type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        "ClusterIP", description="Type of its Service."
    )
