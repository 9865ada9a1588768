"""The exporter as the service that a Deployment runs: scraped, probed, with a store that goes away, and stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest

from nashdex.core import keys
from nashdex.store import open_store
from support.made_runs import make_tabular_run
from support.ports import free_port

pytestmark = pytest.mark.integration

DEADLINE_SECONDS = 300.0
MAX_RESIDENT_BYTES = 120e6
PENNIES = ((1.0, -1.0), (-1.0, 1.0))


@contextmanager
def exporter(store: str, port: int, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "nashdex_cli", "exporter", "--store", store, "--every", "1"]
    variables = {**os.environ, "NASHDEX_METRICS_PORT": str(port), **environment}
    process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=300)


def scrape(port: int) -> dict[str, float]:
    """Return every sample, by name and labels as they are written."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=300) as response:
        lines = response.read().decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def scrape_until(port: int, wanted: str) -> dict[str, float]:
    """Scrape until a sample whose name and labels match ``wanted`` is above 0."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        try:
            samples = scrape(port)
        except URLError:
            samples = {}
        if any(re.search(wanted, name) and value > 0 for name, value in samples.items()):
            return samples
        assert time.monotonic() < deadline, f"no {wanted} in {sorted(samples)}"
        time.sleep(0.2)


def test_a_run_is_told_of_in_little_memory_and_sigterm_ends_it_well(tmp_path: Path) -> None:
    store, port = tmp_path / "runs", free_port()
    settings = make_tabular_run(open_store(str(store)).at("pennies"), iterations=2, payoffs=PENNIES)
    config = {"schema_version": 1, **settings.model_dump(mode="json"), "run": "pennies"}
    (store / "pennies" / keys.CONFIG).write_text(json.dumps(config))
    with exporter(str(store), port) as process:
        samples = scrape_until(port, r"nashdex_exporter_scans_total")
        labels = '{component="exporter",format="matrix",run="pennies"}'
        assert samples[f"nashdex_iterations{labels}"] == samples[f"nashdex_planned_iterations{labels}"] == 2
        assert samples['nashdex_exporter_runs{component="exporter",format="",run=""}'] == 1
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=300) as response:
            assert response.status == 200
        assert psutil.Process(process.pid).memory_info().rss < MAX_RESIDENT_BYTES
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


@pytest.mark.slow
def test_while_the_store_is_away_it_tells_what_it_knew_and_stays_well(tmp_path: Path) -> None:
    store, port = tmp_path / "runs", free_port()
    run = store / "some-run"
    run.mkdir(parents=True)
    (run / keys.CONFIG).write_text(json.dumps({"format": "gen1ou", "iterations": 4}))
    with exporter(str(store), port, NASHDEX_HEALTH_STALE_SECONDS="15") as process:
        scrape_until(port, "nashdex_exporter_scans_total")
        store.rename(tmp_path / "away")
        store.write_text("a file where the store was")
        samples = scrape_until(port, "nashdex_exporter_failed_scans_total")
        assert samples['nashdex_planned_iterations{component="exporter",format="gen1ou",run="some-run"}'] == 4
        time.sleep(16)  # longer than a process may be idle and count as well
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=300) as response:
            assert response.status == 200
        before = scrape(port)['nashdex_exporter_scans_total{component="exporter",format="",run=""}']
        store.unlink()
        (tmp_path / "away").rename(store)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while scrape(port)['nashdex_exporter_scans_total{component="exporter",format="",run=""}'] == before:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert process.poll() is None


def test_a_store_that_cannot_be_one_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with exporter(str(tmp_path / "file"), free_port()) as process:
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 64
    assert "cannot be used as a store" in errors


def test_without_a_port_it_would_serve_nobody(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nashdex_cli", "exporter", "--store", str(tmp_path)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 64
    assert result.stderr == (
        "error: NASHDEX_METRICS_PORT is not set; expected the port to serve /metrics on, such as 9090\n"
    )
