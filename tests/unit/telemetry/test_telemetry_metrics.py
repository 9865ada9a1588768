"""The catalogue's naming rules, and what /metrics and /healthz answer."""

import json
import socket
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import prometheus_client
import pytest
from prometheus_client.parser import text_string_to_metric_families

from nashdex.core.errors import ConfigurationError
from nashdex.telemetry import metrics
from nashdex.telemetry.metric import Metric, identify_process
from nashdex.telemetry.progress import beat
from nashdex.telemetry.server import TelemetryServer


def ask(server: TelemetryServer, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_names_and_facts_of_the_catalogue_are_unique() -> None:
    names = [metric.name for metric in metrics.CATALOGUE]
    facts = [metric.fact for metric in metrics.CATALOGUE if metric.fact]
    assert len(set(names)) == len(names) > 0
    assert len(set(facts)) == len(facts) > 0


def test_metrics_are_served_with_the_labels_of_the_process() -> None:
    identify_process(run="run-1", component="solver", format="gen1ou")
    metrics.EXPLOITABILITY.set(0.25, estimator="restricted", bound="high")
    metrics.observe_store("get", 0.02, 1000, failed=False)
    metrics.observe_store("get", 0.2, 24, failed=False)
    metrics.observe_store("put", 30.0, 0, failed=True)
    with TelemetryServer(0, stale_seconds=60, host="127.0.0.1") as server:
        status, text = ask(server, "/metrics")
        assert ask(server, "/other")[0] == 404
    assert status == 200
    process = {"run": "run-1", "component": "solver", "format": "gen1ou"}
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }

    def value(name: str, **labels: str) -> float:
        return samples[name, *sorted((process | labels).items())]

    assert value("nashdex_exploitability", estimator="restricted", bound="high") == 0.25
    assert value("nashdex_store_bytes_total", operation="get") == 1024
    assert value("nashdex_store_operation_seconds_count", operation="get") == 2
    assert value("nashdex_store_errors_total", operation="get") == 0
    assert value("nashdex_store_errors_total", operation="put") == 1
    assert value("nashdex_store_operation_seconds_bucket", operation="get", le="0.03") == 1
    assert not any(str(name).startswith("nashdex") and str(name).endswith("_created") for name, *_ in samples)


def test_threads_that_set_a_metric_first_create_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    created = prometheus_client.Gauge

    def slow(*args: object, **options: object) -> prometheus_client.Gauge:
        time.sleep(0.05)  # gives the other threads time to find no metric
        return created(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("nashdex.telemetry.metric.Gauge", slow)
    process = {"run": "r1", "component": "train", "format": "gen1ou"}
    identify_process(**process)
    metric = Metric("nashdex_test_first_sets", "gauge", "Set by several threads.")
    start = Barrier(4)

    def first_set(value: int) -> None:
        start.wait()
        metric.set(value)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(first_set, range(4)))
    assert prometheus_client.REGISTRY.get_sample_value(metric.name, process) in range(4)


def test_a_process_whose_work_does_not_advance_is_unhealthy_until_it_does() -> None:
    with TelemetryServer(0, stale_seconds=0.3, host="127.0.0.1") as server:
        beat()
        time.sleep(0.4)
        status, body = ask(server, "/healthz")
        assert (status, json.loads(body)["status"]) == (503, "stalled")
        assert json.loads(body)["seconds_since_advance"] >= 0.4
        while status != 200:  # a busy machine may not ask within the time
            beat()
            status, body = ask(server, "/healthz")
        assert json.loads(body)["status"] == "ok"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_without_a_host_it_answers_on_every_address(address: str) -> None:
    if ":" in address and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    beat()
    with (
        TelemetryServer(0, stale_seconds=60) as server,
        socket.create_connection((address, server.port), timeout=60) as connection,
    ):
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"200"


def test_a_port_that_is_taken_is_named() -> None:
    with (
        TelemetryServer(0, stale_seconds=1, host="127.0.0.1") as server,
        pytest.raises(ConfigurationError, match=f"NASHDEX_METRICS_PORT {server.port}"),
    ):
        TelemetryServer(server.port, stale_seconds=1, host="127.0.0.1")
