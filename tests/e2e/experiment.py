"""An experiment on a real cluster, by hand: ``make e2e-experiment``."""

import json
from pathlib import Path

import pytest

from e2e.installation import Installation
from support.experiments import BASE, PLAN

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1500)]


def test_every_run_is_a_workflow_and_is_measured_here(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    command = ("experiment", "run", str(plan), "--cluster", "--namespace", installed.namespace, "--json")
    with installed.bucket():
        report = json.loads(installed.nashdex(*command, seconds=1200))
        again = json.loads(installed.nashdex(*command, seconds=600))
    assert report["status"] == "completed"
    assert all(run["matches"]["random"]["battles"] == 40 for run in report["runs"])
    assert all(run["cpu_minutes"] > 0 for run in report["runs"])
    leagues = installed.objects("workflows", component="league")
    assert {league["metadata"]["labels"]["nashdex.dev/run"] for league in leagues} == {"plan-base-1", "plan-still-1"}
    assert again == report, "nothing is run twice"
