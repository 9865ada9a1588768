"""What helm install rejects because of the cluster's objects: one message each, and nothing is created."""

from typing import Any

import helm_python
import pytest
from helm_python import Chart, Config

from chart.api_server import ARGO, Cluster, serving
from chart.charts import CHART, Object, ci_values

SITE = "/api/v1/namespaces/research/configmaps/nashdex-site"
SECRET = "/api/v1/namespaces/research/secrets/s3-keys"  # noqa: S105 - a path
NAMESPACE = {"/api/v1/namespaces/research/configmaps/kube-root-ca.crt": {"kind": "ConfigMap", "apiVersion": "v1"}}
DEPLOYMENTS = "/apis/apps/v1/namespaces/argo/deployments"

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: "{url}"}}}}]
users: [{{name: test, user: {{}}}}]
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
current-context: test
"""


def refusal(cluster: Cluster, values: Object) -> str:
    """Return why an installation is refused."""
    with serving(cluster) as url, Chart.load(CHART) as chart:
        config = Config(kubeconfig_content=KUBECONFIG.format(url=url), namespace="research", storage_driver="memory")
        with config, pytest.raises(helm_python.HelmReleaseError) as caught:
            config.install(chart, "nashdex", values, namespace="research", dry_run="server")
    return str(caught.value)


def controller(image: str) -> dict[str, Any]:
    """Return a list of Deployments with Argo's controller in it."""
    spec = {"template": {"spec": {"containers": [{"name": "workflow-controller", "image": image}]}}}
    item = {"metadata": {"name": "workflow-controller"}, "spec": spec}
    return {"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [item]}


def site(annotations: dict[str, str]) -> dict[str, Any]:
    """Return the ConfigMap of another installation."""
    metadata = {"name": "nashdex-site", "namespace": "research", "annotations": annotations}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}


def test_a_cluster_without_argo() -> None:
    message = refusal(Cluster(kinds={}), {})
    assert "no Argo Workflows" in message
    assert "Workflow, WorkflowTemplate, WorkflowTaskResult is missing" in message


@pytest.mark.parametrize("version", ["v3.6.19", "v2.12.13"])
def test_an_argo_too_old(version: str) -> None:
    image = f"quay.io/argoproj/workflow-controller:{version}"
    message = refusal(Cluster(objects={DEPLOYMENTS: controller(image)}), {})
    assert f"has Argo Workflows {version.removeprefix('v')}" in message
    assert "3.7 or later" in message


@pytest.mark.parametrize("image", ["quay.io/argoproj/workflow-controller:v4.0.2", "quay.io/argoproj/argocli:v3.5.0"])
def test_an_argo_that_will_do_is_not_what_is_refused(image: str) -> None:
    cluster = Cluster(objects={DEPLOYMENTS: controller(image)})
    assert "Argo" not in refusal(cluster, ci_values("existing-secret"))


def test_a_cluster_without_kueue() -> None:
    assert "has no Kueue" in refusal(Cluster(), ci_values("kueue"))
    kueue = {"kueue.x-k8s.io/v1beta2": {"localqueues": "LocalQueue"}}
    # Something else is refused: the Secret is missing.
    assert "Kueue" not in refusal(
        Cluster(kinds=ARGO | kueue, objects=NAMESPACE), ci_values("kueue") | ci_values("existing-secret")
    )


def test_a_second_release() -> None:
    message = refusal(Cluster(objects={SITE: site({"meta.helm.sh/release-name": "first"})}), {})
    assert "Namespace research already has nashdex, as release first" in message


def test_an_installation_without_helm() -> None:
    assert "installed without Helm" in refusal(Cluster(objects={SITE: site({})}), {})


def test_a_secret_that_is_missing() -> None:
    message = refusal(Cluster(objects=NAMESPACE), ci_values("existing-secret"))
    assert "Namespace research has no Secret s3-keys" in message
    assert "kubectl create secret generic s3-keys -n research" in message


def test_a_secret_that_cannot_be_looked_up_is_not_refused() -> None:
    """Argo CD passes the cluster's API versions, and ``lookup`` finds nothing."""
    assert "has no Secret" not in refusal(Cluster(), ci_values("existing-secret"))


def test_a_secret_without_a_key() -> None:
    secret = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s3-keys"}, "data": {"AWS_ACCESS_KEY_ID": ""}}
    message = refusal(Cluster(objects=NAMESPACE | {SECRET: secret}), ci_values("existing-secret"))
    assert "lacks AWS_SECRET_ACCESS_KEY" in message
