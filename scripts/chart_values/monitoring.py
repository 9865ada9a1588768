"""Values of the objects that Prometheus and Grafana read."""

from pydantic import Field

from chart_values.base import Values


class MonitoringObjectValues(Values):
    """An object of the Prometheus operator, or a ConfigMap for Grafana."""

    enabled: bool = Field(default=False, description="Install it.")
    additional_labels: dict[str, str] = Field(
        {}, description="Labels that your monitoring selects by, such as `release: monitoring`."
    )


class PodMonitorValues(MonitoringObjectValues):
    """Scrapes every pod of nashdex."""

    interval: str = Field("15s", pattern=r"^[0-9]+(ms|s|m|h)$", description="Scrape interval.")


class PrometheusRuleValues(MonitoringObjectValues):
    """Alerts, and the recording rules that they use."""

    disabled: dict[str, bool] = Field(
        {}, description="Alerts to leave out, such as `{NashdexKlOutOfBand: true}`; the runbook lists them."
    )
    all_namespaces: bool = Field(
        default=False,
        description="Also watch runs of other namespaces. Leave it off if several releases share a Prometheus.",
    )


class DashboardsValues(MonitoringObjectValues):
    """ConfigMaps that Grafana's sidecar reads."""

    annotations: dict[str, str] = Field({}, description="Annotations, such as `grafana_folder: nashdex`.")
