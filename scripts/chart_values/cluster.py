"""Values of what the pods meet on the cluster: service accounts, queues, network policies, Argo."""

from typing import Annotated, Literal

from pydantic import Field

from argo_templates.pods import MAX_OUT_OF_MEMORY_RETRIES, MAX_RETRIES, Size
from argo_templates.workflows import ITERATION_DEADLINE_SECONDS, LEAGUE_DEADLINE_SECONDS, MAX_PODS
from chart_values.base import KubernetesObject, Values
from chart_values.pods import ResourceValues, sized


class ServiceAccountValues(Values):
    """A service account."""

    annotations: dict[str, str] = Field({}, description="Annotations, such as for workload identity.")


class ServiceAccountsValues(Values):
    """One service account a role."""

    workflow: ServiceAccountValues = Field(
        ServiceAccountValues(), description="Steps: they report their outcome to Argo, and read and write the store."
    )
    league: ServiceAccountValues = Field(
        ServiceAccountValues(), description="The league: it creates a Workflow for each iteration."
    )
    submitter: ServiceAccountValues = Field(ServiceAccountValues(), description="Programs that submit runs.")
    exporter: ServiceAccountValues = Field(
        ServiceAccountValues(),
        description="Exporter and `helm test`: no rights on the cluster; they read and write the store.",
    )


class RetryValues(Values):
    """Retries of a pod. Wrong settings and wrong data are never retried."""

    limit: int = Field(MAX_RETRIES, ge=0, le=100, description="Retries of a shard, after lost pods and passing errors.")
    out_of_memory: int = Field(
        MAX_OUT_OF_MEMORY_RETRIES,
        ge=0,
        le=100,
        description="Failed attempts of a shard after which a pod that is out of memory is not retried.",
    )


class WorkflowValues(Values):
    """Workflows of runs."""

    parallelism: int = Field(MAX_PODS, ge=1, le=1000, description="Pods of an iteration that run at once.")
    iteration_deadline_seconds: int = Field(
        ITERATION_DEADLINE_SECONDS, ge=60, description="Longest time of an iteration, with its retries."
    )
    league_deadline_seconds: int = Field(
        LEAGUE_DEADLINE_SECONDS, ge=60, description="Longest time of a submitted run, with all its iterations."
    )
    retries: RetryValues = Field(RetryValues(), description="Retries of a pod.")


class SemaphoreValues(Values):
    """Argo's semaphore."""

    trainers: int = Field(1, ge=1, le=1000, description="Trainer pods that run at once in the namespace.")


class PodKindValues(Values):
    """A name for each kind of pods."""

    gpu: str = Field("", description="Name for the train pods.")
    cpu: str = Field("", description="Name for the collect, act, evaluate and gate pods.")
    control: str = Field("", description="Name for all other pods: begin, plan, solve, report, verdict and the league.")


class KueueValues(Values):
    """Kueue."""

    local_queue: str = Field("", description="LocalQueue of the train, collect, act, evaluate and gate pods.")
    local_queues: PodKindValues = Field(
        PodKindValues(),
        description="Other LocalQueues for some pods. Control pods without one do not queue, so that a verdict never "
        "waits behind collectors.",
    )
    priority_classes: PodKindValues = Field(
        PodKindValues(), description="WorkloadPriorityClasses. Pods with a higher one leave a queue first."
    )


class QueueingValues(Values):
    """What limits how many steps run at once: one of the two, never both."""

    mode: Literal["semaphore", "kueue"] = Field("semaphore", description="`semaphore` (Argo's) or `kueue`.")
    semaphore: SemaphoreValues = Field(SemaphoreValues(), description="For the mode semaphore.")
    kueue: KueueValues = Field(KueueValues(), description="For the mode kueue.")


class NetworkPolicyValues(Values):
    """Network policies."""

    enabled: bool = Field(
        default=True,
        description="Allow pods to reach only DNS, the store, what gives them credentials, and the Kubernetes API, and "
        "others to reach only their metrics.",
    )
    api_ports: list[Annotated[int, Field(ge=1, le=65_535)]] = Field(
        [443, 6443], min_length=1, description="Ports of the Kubernetes API, for Argo's executor."
    )
    api_cidrs: list[Annotated[str, Field(min_length=1)]] = Field(
        [], description="Addresses of the Kubernetes API, such as `10.0.0.1/32`. Default: any address, on those ports."
    )
    extra_egress: list[KubernetesObject] = Field([], description="More egress rules of every pod, such as to a proxy.")
    metrics_from: list[KubernetesObject] = Field(
        [], description="Peers that may scrape metrics. Default: every pod of the cluster."
    )
    players_from: list[KubernetesObject] = Field(
        [], description="Peers that may reach the Showdown server. Default: everyone."
    )


class ExecutorValues(Values):
    """Argo's own containers in every step's pod, `init` and `wait`."""

    restricted: bool = Field(
        default=True,
        description="Give them the security context that Restricted pod security requires, whatever the controller's "
        "configuration says.",
    )
    resources: ResourceValues = Field(sized(Size("10m", "64Mi", "256Mi")), description="Requests and limits of each.")


class ArgoValues(Values):
    """The cluster's Argo Workflows."""

    namespace: str = Field(
        "argo",
        description="Namespace of Argo's controller; the chart checks its version at install. Set empty to skip the "
        "check if you may not read Deployments there.",
    )
    executor: ExecutorValues = Field(ExecutorValues(), description="Argo's own containers in every step's pod.")
