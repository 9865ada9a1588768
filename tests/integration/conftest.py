"""A cluster that commands talk to, through the Kubernetes API and through the Argo server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line
from support.cluster_server import ClusterState, kubeconfig, serving


@pytest.fixture
def state() -> ClusterState:
    return ClusterState()


@pytest.fixture(params=["kubernetes", "argo server"])
def nashdex(
    request: pytest.FixtureRequest, state: ClusterState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., int]]:
    for name in ("ARGO_SERVER", "ARGO_TOKEN", "ARGO_NAMESPACE", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    with serving(state) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        server = ["--server", url] if request.param == "argo server" else []

        def call(*arguments: str) -> int:
            return run_command_line([*arguments, *server])

        yield call
