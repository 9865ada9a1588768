"""A run on an S3 server whose requests fail at random has the results of an undisturbed one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from nashdex.store import open_store
from support.results import published
from support.s3_proxy import FAULTS, s3_proxy

KUHN = """
format = "kuhn_poker"
iterations = 2
[population]
initial = ["random"]
[train]
oracle = "exact"
[solve]
num_draws = 100
"""
REAL = """
format = "gen1ou"
iterations = 1
seed = 3
[population]
initial = ["random"]
[arena]
concurrent_battles = 8
[collect]
battles = 8
[train]
oracle = { kind = "ppo", decisions = 1, round_battles = 8 }
first = { num_epochs = 1 }
[evaluate]
battles_per_pair = 2
[solve]
num_draws = 100
"""
SHARE = 0.08
ATTEMPTS = 12
"""More than a run needs: boto retries a request five times, so few faults reach a step."""
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing-secret", "AWS_REGION": "us-east-1"}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 server with the bucket ``runs``."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    boto3.session.Session().client("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket="runs")
    yield url
    server.stop()


def run(folder: Path, config: str, store: str, endpoint: str = "") -> "subprocess.CompletedProcess[str]":
    (folder / "small.toml").write_text(config)
    command = [sys.executable, "-m", "nashdex_cli", "run", "small.toml", "--store", store, "--run", "small"]
    environment = os.environ | CREDENTIALS | {"XDG_STATE_HOME": str(folder / "state")}
    environment |= {"AWS_ENDPOINT_URL": endpoint} if endpoint else {}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
    )


@pytest.mark.slow
@pytest.mark.parametrize(("config", "iterations"), [(KUHN, 2), (REAL, 1)], ids=["kuhn_poker", "gen1ou"])
def test_a_faulty_s3_server_loses_and_doubles_nothing(
    config: str, iterations: int, tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"s3://runs/{tmp_path.name}"  # the server keeps its objects from test to test
    undisturbed = run(tmp_path, config, str(tmp_path / "store"))
    assert undisturbed.returncode == 0, undisturbed.stderr
    with s3_proxy(endpoint, SHARE, seed=75) as (url, proxy):
        for _ in range(ATTEMPTS):
            done = run(tmp_path, config, store, url)
            assert done.returncode in {0, 75}, done.stderr
            assert "Traceback" not in done.stderr
            assert CREDENTIALS["AWS_SECRET_ACCESS_KEY"] not in done.stderr
            if done.returncode == 0:
                break
    assert done.returncode == 0, done.stderr
    assert {each.partition(" ")[2] for each in proxy.injected} == set(FAULTS)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    expected = published(open_store(str(tmp_path / "store" / "small")), range(iterations))
    assert published(open_store(f"{store}/small"), range(iterations)) == expected
    verified = subprocess.run(
        [sys.executable, "-m", "nashdex_cli", "verify", f"{store}/small"],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert verified.returncode == 0, verified.stderr
    assert not (tmp_path / "runs").exists(), "nothing of a run in a bucket lies here, but its logs"
    assert list((tmp_path / "state" / "nashdex" / "small" / "logs").glob("0000-*.log"))
