"""Connect to the cluster: through the Argo server if one is named and responds, else the Kubernetes API."""

import os

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex_cluster.argo_server import ArgoServer
from nashdex_cluster.client import Cluster
from nashdex_cluster.kubernetes_api import KubernetesApi

SERVER_VARIABLE = "ARGO_SERVER"
NAMESPACE_VARIABLE = "ARGO_NAMESPACE"


def connect(*, namespace: str | None = None, context: str | None = None, server: str | None = None) -> Cluster:
    """Return the cluster that commands talk to.

    Args:
        namespace: the namespace. Default: ARGO_NAMESPACE, else the context's, else ``default``.
        context: context of the kubeconfig. Default: its current one.
        server: the Argo server's ``host:port``. Default: ARGO_SERVER, which is ignored while it does not respond.

    Raises:
        ConfigurationError: there is neither a kubeconfig nor a server, or no token for the server.
        TryAgainError: the server named by ``server`` does not respond.
    """
    namespace = namespace or os.environ.get(NAMESPACE_VARIABLE)
    address = server or os.environ.get(SERVER_VARIABLE)
    try:
        direct: KubernetesApi | None = KubernetesApi.open(namespace, context)
    except ConfigurationError:
        if not address:
            raise
        direct = None
    if address:
        chosen = namespace or (direct.namespace if direct else "default")
        token = direct.token if direct else None
        try:
            through = ArgoServer.open(address, token=token, namespace=chosen, beside=direct)
            through.argo_version()
        except (TryAgainError, ConfigurationError):
            if server or direct is None:
                raise
        else:
            return through
    assert direct is not None, "without a server, opening raised"
    return direct
