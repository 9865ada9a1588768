"""Prometheus understands every expression of dashboards and alerts, and answers it where the metrics are there."""

import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.prometheus import ask_all
from support.ports import free_port
from support.promql import RULES

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        shutil.which("prometheus") is None, reason="prometheus is not on this machine: install Debian's package of it"
    ),
]

PROGRAM = Path(__file__).parents[1] / "support" / "programs" / "every_metric.py"
DEADLINE_SECONDS = 600
WINDOW_SECONDS = 60


def serve_every_metric(stack: ExitStack, component: str) -> int:
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, str(PROGRAM), component], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    )
    stack.callback(process.terminate)
    assert process.stdout is not None
    return int(process.stdout.readline())


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the root of a Prometheus that has scraped the whole catalogue several times."""
    folder = tmp_path_factory.mktemp("prometheus")
    with ExitStack() as stack:
        targets = [f"127.0.0.1:{serve_every_metric(stack, name)}" for name in ("train", "exporter")]
        jobs = [
            {
                "job_name": "nashdex",
                "honor_labels": True,
                "static_configs": [{"targets": targets, "labels": {"namespace": "n"}}],
            }
        ]
        settings = {
            # A scrape may take as long as the interval, also on a busy machine.
            "global": {"scrape_interval": "5s", "scrape_timeout": "5s", "evaluation_interval": "5s"},
            "rule_files": [str(RULES)],
            "scrape_configs": jobs,
        }
        (folder / "prometheus.yml").write_text(json.dumps(settings))
        port = free_port()
        program = shutil.which("prometheus")
        assert program is not None
        server = stack.enter_context(
            subprocess.Popen(
                [
                    program,
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                    "--log.level=error",
                ]
            )
        )
        stack.callback(server.terminate)
        url = f"http://127.0.0.1:{port}"
        wait_until_scraped(url, len(targets))
        yield url


def wait_until_scraped(url: str, num_targets: int) -> None:
    """Wait until there are samples enough of every target for a rate."""
    query = "/api/v1/query?query=count(count_over_time(nashdex_updates_total[1m])>3)"
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url + query, timeout=5) as response:  # noqa: S310 - the own server
                result = json.load(response)["data"]["result"]
        except (urllib.error.URLError, ConnectionError):
            result = []
        if result and int(result[0]["value"][1]) == num_targets:
            return
        time.sleep(0.5)
    pytest.fail(f"Prometheus scraped nothing within {DEADLINE_SECONDS} s")


@pytest.mark.slow
def test_every_expression_is_answered(base_url: str) -> None:
    assert ask_all(base_url, window_seconds=WINDOW_SECONDS) == []


@pytest.mark.slow
def test_what_is_not_there_is_named(base_url: str) -> None:
    unanswered = ask_all(base_url, window_seconds=WINDOW_SECONDS, absent=())
    assert len(unanswered) == 1
    assert unanswered[0].startswith("operations.json: GPU utilisation: avg by (gpu) (DCGM_FI_DEV_GPU_UTIL)")
