"""What the Helm chart can be told: values.yaml, its schema and its table are made from here (``make chart``).

Keys are camelCase, as Helm's are. A default that is empty leaves the matter to the cluster. No value ever holds a
credential: secrets are named, never given.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_KubernetesObject = dict[str, Any]
"""Handed on as it is: Kubernetes itself checks it."""


class _Values(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, defer_build=True
    )


class ReferenceValues(_Values):
    """Whole references, by image."""

    showdown: str = Field("", description="Battle gateway and stock Showdown server.")
    collector: str = Field("", description="Collects battles.")
    evaluator: str = Field("", description="Plays the tournament and the gate.")
    trainer: str = Field("", description="Trains; built with CUDA by default.")
    control: str = Field("", description="Plans, solves and reports; the exporter.")


class ImageValues(_Values):
    """The five images."""

    repository: str = Field(
        "nashdex", min_length=1, description="What stands before `/showdown`, `/collector` and so on."
    )
    tag: str = Field("", description="Tag of all five. By default the chart's appVersion.")
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field("IfNotPresent", description="When nodes pull.")
    pull_secrets: list[Annotated[str, Field(min_length=1)]] = Field(
        [], description="Names of Secrets with registry credentials, for every service account."
    )
    references: ReferenceValues = Field(
        ReferenceValues(), description="Whole references in place of repository and tag, such as one by digest."
    )


class ResourceValues(_Values):
    """A container's requests and limits."""

    requests: dict[str, str | int | float] = Field({}, description="By resource.")
    limits: dict[str, str | int | float] = Field({}, description="By resource.")


class DisruptionBudgetValues(_Values):
    """Whether a node's draining may evict the pods."""

    enabled: bool = Field(
        default=False, description="Hold back evictions while such a pod runs: a node is drained only after it."
    )


class PodValues(_Values):
    """What every component's pods take, under the same names."""

    resources: ResourceValues = Field(ResourceValues(), description="Of the main container; over what the step has.")
    node_selector: dict[str, str] = Field({}, description="Labels of nodes to run on.")
    tolerations: list[_KubernetesObject] = Field([], description="Taints to run in spite of.")
    affinity: _KubernetesObject = Field({}, description="Affinity and anti-affinity.")
    priority_class_name: str = Field("", description="PriorityClass.")
    runtime_class_name: str = Field("", description="RuntimeClass, such as `nvidia`.")
    extra_env: list[_KubernetesObject] = Field([], description="More variables of the main container.")
    extra_volumes: list[_KubernetesObject] = Field([], description="More volumes.")
    extra_volume_mounts: list[_KubernetesObject] = Field([], description="More mounts of the main container.")
    pod_disruption_budget: DisruptionBudgetValues = Field(DisruptionBudgetValues(), description="Against evictions.")


class SidecarValues(_Values):
    """The battle gateway beside a step."""

    resources: ResourceValues = Field(ResourceValues(), description="Of the gateway; over what the step has.")


class BattleStepValues(PodValues):
    """A step that plays battles."""

    showdown: SidecarValues = Field(SidecarValues(), description="The battle gateway beside it.")


class TrainValues(PodValues):
    """The train step."""

    gpus: int = Field(0, ge=0, le=64, description='GPUs of a trainer\'s pod. 0 for runs with `train.device = "cpu"`.')
    gpu_resource: str = Field("nvidia.com/gpu", min_length=1, description="What the cluster calls them.")
    shared_memory: str = Field("8Gi", min_length=1, description="Largest size of /dev/shm.")


class EmbeddedStoreValues(PodValues):
    """An S3 server in the namespace, for kind and laptops."""

    enabled: bool = Field(default=True, description="Run it. Turn it off where `objectStore.uri` names a bucket.")
    image: str = Field("docker.io/versity/versitygw:v1.8.0", min_length=1, description="versitygw, by tag or digest.")
    bucket: str = Field(
        "nashdex", pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", description="Bucket, made when it starts."
    )
    size: str = Field("20Gi", min_length=1, description="Size of its volume.")
    storage_class_name: str = Field("", description="Storage class of its volume. By default the cluster's.")
    retain_volume: bool = Field(
        default=False, description="Keep the volume, with every run in it, after `helm uninstall`."
    )


class ObjectStoreValues(_Values):
    """Where runs are."""

    uri: str = Field(
        "",
        pattern=r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.=+@/-]*[A-Za-z0-9_=+@-])?)?$",
        description="`s3://bucket/prefix`. Needed unless the embedded server is enabled.",
    )
    endpoint: str = Field("", pattern=r"^(https?://.+)?$", description="URL of the S3 service. By default AWS's own.")
    region: str = Field("us-east-1", min_length=1, description="Region that requests are signed for.")
    existing_secret: str = Field(
        "",
        description="Secret with the keys `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`. None for workload identity; "
        "the embedded server makes one of its own.",
    )
    embedded: EmbeddedStoreValues = Field(EmbeddedStoreValues(), description="An S3 server on a volume.")


class ServiceAccountValues(_Values):
    """A service account."""

    annotations: dict[str, str] = Field({}, description="Such as those of workload identity.")


class ServiceAccountsValues(_Values):
    """One a role."""

    workflow: ServiceAccountValues = Field(
        ServiceAccountValues(), description="Steps. May report their outcome to Argo; reads and writes the store."
    )
    league: ServiceAccountValues = Field(ServiceAccountValues(), description="Chains iterations: creates Workflows.")
    submitter: ServiceAccountValues = Field(ServiceAccountValues(), description="For programs that submit runs.")
    exporter: ServiceAccountValues = Field(
        ServiceAccountValues(), description="Exporter and `helm test`. No rights; reads and writes the store."
    )


class SemaphoreValues(_Values):
    """Argo's own queue."""

    trainers: int = Field(1, ge=1, le=1000, description="Trainers that run at once in the namespace.")


class KueueValues(_Values):
    """Kueue."""

    local_queue: str = Field("", description="LocalQueue that every pod of a step waits in.")


class QueueingValues(_Values):
    """Who decides when a step may run. Never both."""

    mode: Literal["semaphore", "kueue"] = Field("semaphore", description="Argo's semaphore, or Kueue.")
    semaphore: SemaphoreValues = Field(SemaphoreValues(), description="For mode semaphore.")
    kueue: KueueValues = Field(KueueValues(), description="For mode kueue.")


class ExporterValues(PodValues):
    """The exporter: iteration facts of active runs as metrics."""

    enabled: bool = Field(default=True, description="Run it.")


class ShowdownServerValues(PodValues):
    """The stock Showdown server, for people and outside agents. Runs do not need it."""

    enabled: bool = Field(default=False, description="Run it. Whoever reaches it may play: it checks no names.")
    service_type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field("ClusterIP", description="Of its Service.")


class NetworkPolicyValues(_Values):
    """Who may talk to whom."""

    enabled: bool = Field(
        default=False,
        description="Let pods reach DNS, the store and the Kubernetes API alone, and be reached for metrics alone.",
    )
    api_ports: list[Annotated[int, Field(ge=1, le=65_535)]] = Field(
        [443, 6443], min_length=1, description="Ports of the Kubernetes API, for Argo's executor."
    )
    metrics_from: list[_KubernetesObject] = Field(
        [], description="Peers that may scrape metrics. By default every pod of the cluster."
    )
    players_from: list[_KubernetesObject] = Field(
        [], description="Peers that may reach the Showdown server. By default everybody."
    )


class MonitoringObjectValues(_Values):
    """An object of the prometheus-operator."""

    enabled: bool = Field(default=False, description="Make it.")
    additional_labels: dict[str, str] = Field(
        {}, description="Labels that your monitoring selects by, such as `release: monitoring`."
    )


class PodMonitorValues(MonitoringObjectValues):
    """Scrapes every pod of nashdex."""

    interval: str = Field("15s", pattern=r"^[0-9]+(ms|s|m|h)$", description="Between scrapes.")


class DashboardsValues(MonitoringObjectValues):
    """ConfigMaps that Grafana's sidecar reads."""

    annotations: dict[str, str] = Field({}, description="Such as `grafana_folder: nashdex`.")


class ExecutorValues(_Values):
    """Argo's own containers in every step's pod, `init` and `wait`."""

    restricted: bool = Field(
        default=True,
        description="Give them the security context that namespaces with Restricted pod security want, whatever the "
        "controller's configuration gives them.",
    )
    resources: ResourceValues = Field(ResourceValues(), description="Of each, for namespaces with a quota.")


class ArgoValues(_Values):
    """The Argo Workflows that is there."""

    namespace: str = Field(
        "argo",
        description="Namespace of its controller, whose version is checked at install. Empty not to look, where you "
        "may not read Deployments there.",
    )
    executor: ExecutorValues = Field(ExecutorValues(), description="Argo's own containers in every step's pod.")


class ChartValues(_Values):
    """values.yaml."""

    images: ImageValues = Field(ImageValues(), description="The five images.")
    object_store: ObjectStoreValues = Field(ObjectStoreValues(), description="Where runs are.")
    collect: BattleStepValues = Field(BattleStepValues(), description="Pods of step collect.")
    train: TrainValues = Field(TrainValues(), description="Pods of step train.")
    evaluate: BattleStepValues = Field(BattleStepValues(), description="Pods of steps evaluate and gate.")
    control: PodValues = Field(PodValues(), description="Pods of steps begin, plan, solve, report and verdict.")
    exporter: ExporterValues = Field(
        ExporterValues(), description="Deployment that serves iteration facts of active runs as metrics."
    )
    showdown_server: ShowdownServerValues = Field(
        ShowdownServerValues(), description="The stock Showdown server, for people and outside agents."
    )
    queueing: QueueingValues = Field(QueueingValues(), description="Who decides when a step may run.")
    service_accounts: ServiceAccountsValues = Field(ServiceAccountsValues(), description="One a role.")
    submitters: list[_KubernetesObject] = Field(
        [], description="Further subjects that may submit runs, such as `{kind: Group, name: research}`."
    )
    network_policy: NetworkPolicyValues = Field(NetworkPolicyValues(), description="Who may talk to whom.")
    pod_monitor: PodMonitorValues = Field(PodMonitorValues(), description="PodMonitor of every pod.")
    prometheus_rule: MonitoringObjectValues = Field(MonitoringObjectValues(), description="Alerts.")
    dashboards: DashboardsValues = Field(DashboardsValues(), description="Grafana dashboards, as ConfigMaps.")
    argo: ArgoValues = Field(ArgoValues(), description="The Argo Workflows that is there.")
