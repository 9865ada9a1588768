"""Every benchmark of speed says on which machine it ran."""

import json

import pytest

from nashdex_bench.machine import measured_machine
from nashdex_cli.cli import run_command_line


def test_a_benchmark_names_its_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # without Node the machine has no rate of the simulator
    assert run_command_line(["bench", "metagame", "--policies", "2", "--draws", "100", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    machine = result["machine"]
    assert result["num_policies"] == 2
    assert machine["cpu"]
    assert machine["cores"] >= 1
    assert machine["load_average"] >= 0
    assert machine["matmul_gflops"] > 0


def test_the_simulators_rate_is_measured_where_node_is_installed() -> None:
    rate = measured_machine().raw_decisions_per_cpu_second
    assert rate is None or rate > 0
