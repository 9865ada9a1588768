"""The Helm chart's values: ``make chart`` makes values.yaml, its schema and the README's table from this model.

Keys are camelCase, as Helm's are. An empty default leaves the choice to the cluster. No value holds a credential:
values name Secrets.
"""

from pydantic import Field

from chart_values.base import KubernetesObject, Values
from chart_values.cluster import ArgoValues, NetworkPolicyValues, QueueingValues, ServiceAccountsValues, WorkflowValues
from chart_values.images import ImageValues
from chart_values.monitoring import DashboardsValues, PodMonitorValues, PrometheusRuleValues
from chart_values.pods import (
    BattleStepValues,
    ControlValues,
    EvaluateValues,
    ExporterValues,
    ShowdownServerValues,
    TrainValues,
)
from chart_values.store import ObjectStoreValues

__all__ = ["ChartValues"]


class ChartValues(Values):
    """values.yaml."""

    images: ImageValues = Field(ImageValues(), description="The five images.")
    object_store: ObjectStoreValues = Field(ObjectStoreValues(), description="Where runs are stored.")
    collect: BattleStepValues = Field(BattleStepValues(), description="Pods of the steps collect and act.")
    train: TrainValues = Field(TrainValues(), description="Pods of the step train.")
    evaluate: EvaluateValues = Field(EvaluateValues(), description="Pods of the steps evaluate and gate.")
    control: ControlValues = Field(ControlValues(), description="Pods of begin, plan, solve, report and verdict.")
    exporter: ExporterValues = Field(
        ExporterValues(), description="Deployment that serves the results of active runs as metrics."
    )
    showdown_server: ShowdownServerValues = Field(
        ShowdownServerValues(), description="The stock Showdown server, for people and external agents."
    )
    workflows: WorkflowValues = Field(WorkflowValues(), description="Every run's Workflows.")
    queueing: QueueingValues = Field(QueueingValues(), description="What limits how many steps run at once.")
    service_accounts: ServiceAccountsValues = Field(ServiceAccountsValues(), description="One service account a role.")
    submitters: list[KubernetesObject] = Field(
        [], description="More subjects that may submit runs, such as `{kind: Group, name: research}`."
    )
    network_policy: NetworkPolicyValues = Field(NetworkPolicyValues(), description="Network policies.")
    pod_monitor: PodMonitorValues = Field(PodMonitorValues(), description="PodMonitor that scrapes every pod.")
    prometheus_rule: PrometheusRuleValues = Field(
        PrometheusRuleValues(), description="Alerts, for runs of the release's namespace."
    )
    dashboards: DashboardsValues = Field(DashboardsValues(), description="Grafana dashboards, as ConfigMaps.")
    argo: ArgoValues = Field(ArgoValues(), description="The cluster's Argo Workflows.")
