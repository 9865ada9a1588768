"""Values of pods: settings that every component has under the same names, and each component's own."""

from typing import Literal

from pydantic import Field

from chart_values.base import KubernetesObject, Values


class ResourceValues(Values):
    """A container's requests and limits."""

    requests: dict[str, str | int | float] = Field({}, description="Requests by resource.")
    limits: dict[str, str | int | float] = Field({}, description="Limits by resource.")


class DisruptionBudgetValues(Values):
    """Whether draining a node may evict the pods."""

    enabled: bool = Field(default=False, description="Block evictions while such a pod runs.")


class PodValues(Values):
    """Settings that every component's pods take."""

    resources: ResourceValues = Field(
        ResourceValues(), description="Requests and limits of the main container; they override the step's."
    )
    node_selector: dict[str, str] = Field({}, description="Node selector.")
    tolerations: list[KubernetesObject] = Field([], description="Tolerations.")
    affinity: KubernetesObject = Field({}, description="Affinity and anti-affinity.")
    priority_class_name: str = Field("", description="PriorityClass.")
    runtime_class_name: str = Field("", description="RuntimeClass, such as `nvidia`.")
    extra_env: list[KubernetesObject] = Field([], description="More environment variables of the main container.")
    extra_volumes: list[KubernetesObject] = Field([], description="More volumes.")
    extra_volume_mounts: list[KubernetesObject] = Field([], description="More volume mounts of the main container.")
    pod_disruption_budget: DisruptionBudgetValues = Field(DisruptionBudgetValues(), description="PodDisruptionBudget.")


class SidecarValues(Values):
    """The battle gateway beside a step."""

    resources: ResourceValues = Field(
        ResourceValues(), description="Requests and limits of the gateway; they override the step's."
    )


class BattleStepValues(PodValues):
    """A step that plays battles."""

    showdown: SidecarValues = Field(SidecarValues(), description="The battle gateway, a sidecar.")


class TrainValues(PodValues):
    """The train step."""

    gpus: int = Field(
        0, ge=0, le=64, description='GPUs of a trainer\'s pod, 0 or 1. 0 for runs with `train.device = "cpu"`.'
    )
    gpu_resource: str = Field("nvidia.com/gpu", min_length=1, description="Resource name of the GPUs.")
    shared_memory: str = Field("8Gi", min_length=1, description="Size limit of /dev/shm.")


class ExporterValues(PodValues):
    """The exporter: results of active runs as metrics."""

    enabled: bool = Field(default=True, description="Install it.")


class ShowdownServerValues(PodValues):
    """The stock Showdown server, for people and external agents. Runs do not need it."""

    enabled: bool = Field(
        default=False, description="Install it. Everyone who can reach it can play: it does not authenticate."
    )
    service_type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        "ClusterIP", description="Type of its Service."
    )
