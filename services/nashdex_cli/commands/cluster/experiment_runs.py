"""The runs of an experiment on a cluster."""

from dataclasses import dataclass

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.runs.creation import PreparedRun
from nashdex.store import open_store
from nashdex_cluster.client import Cluster
from nashdex_cluster.connection import connect
from nashdex_cluster.submission import check_site
from nashdex_lab.experiments import commands
from nashdex_lab.experiments.plan import Plan, PlannedRun


@dataclass(frozen=True)
class ClusterRuns:
    """Runs are Workflows, each followed by a process of ``nashdex submit``. Implements ``experiments.places.Place``."""

    cluster: Cluster
    store: str
    options: tuple[str, ...]
    """Options of ``nashdex submit`` that name the cluster."""
    stopped: str = (
        "stopped following; the Workflows go on, and `nashdex stop RUN` ends one; run the same command again to follow "
        "them"
    )

    def check(self, run: PreparedRun) -> None:
        """Check what ``nashdex submit`` checks without a pod.

        Raises:
            ConfigurationError: the run cannot work on the cluster.
        """
        check_site(self.cluster, run.settings)

    def run_arguments(self, plan: Plan, run: PlannedRun) -> list[str]:
        """Return the arguments of ``nashdex submit``."""
        return commands.submit_arguments(plan, run, self.options)


def cluster_runs(*, store: str | None, namespace: str | None, context: str | None, server: str | None) -> ClusterRuns:
    """Return the runs of the cluster that options name, read from ``store`` or else from the site's.

    Raises:
        ConfigurationError: there is no such cluster, its site names no store, or the store refuses this machine.
        TryAgainError: the cluster does not respond, or this machine does not reach the store.
    """
    cluster = connect(namespace=namespace, context=context, server=server)
    site = cluster.site()
    uri = store or (site.store if site else None)
    if uri is None:
        raise ConfigurationError(
            f"the store of namespace {cluster.namespace} is not known here: name it with --store s3://bucket/prefix"
        )
    try:
        open_store(uri).exists(keys.RUN_MANIFEST)  # any key: now, and not when the first run has ended
    except (ConfigurationError, TryAgainError) as error:
        raise type(error)(
            f"this machine reads the runs' results and does not reach their store: {error}; for a store within the "
            "cluster, forward its port, and set AWS_ENDPOINT_URL and the keys"
        ) from error
    named = {"--namespace": cluster.namespace, "--context": context, "--server": server}
    return ClusterRuns(cluster, uri, tuple(text for key, value in named.items() if value for text in (key, value)))
