"""Values of what the pods meet on the cluster: service accounts, queues, network policies, Argo."""

from typing import Annotated, Literal

from pydantic import Field

from chart_values.base import KubernetesObject, Values
from chart_values.pods import ResourceValues


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


class SemaphoreValues(Values):
    """Argo's semaphore."""

    trainers: int = Field(1, ge=1, le=1000, description="Trainer pods that run at once in the namespace.")


class KueueValues(Values):
    """Kueue."""

    local_queue: str = Field("", description="LocalQueue of every step's pods.")


class QueueingValues(Values):
    """What limits how many steps run at once: one of the two, never both."""

    mode: Literal["semaphore", "kueue"] = Field("semaphore", description="`semaphore` (Argo's) or `kueue`.")
    semaphore: SemaphoreValues = Field(SemaphoreValues(), description="For the mode semaphore.")
    kueue: KueueValues = Field(KueueValues(), description="For the mode kueue.")


class NetworkPolicyValues(Values):
    """Network policies."""

    enabled: bool = Field(
        default=False,
        description="Allow pods to reach only DNS, the store and the Kubernetes API, and others to reach only their "
        "metrics.",
    )
    api_ports: list[Annotated[int, Field(ge=1, le=65_535)]] = Field(
        [443, 6443], min_length=1, description="Ports of the Kubernetes API, for Argo's executor."
    )
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
    resources: ResourceValues = Field(
        ResourceValues(), description="Requests and limits of each, for namespaces with a quota."
    )


class ArgoValues(Values):
    """The cluster's Argo Workflows."""

    namespace: str = Field(
        "argo",
        description="Namespace of Argo's controller; the chart checks its version at install. Set empty to skip the "
        "check if you may not read Deployments there.",
    )
    executor: ExecutorValues = Field(ExecutorValues(), description="Argo's own containers in every step's pod.")
