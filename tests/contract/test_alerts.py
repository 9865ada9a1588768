"""Alerts fire when they should and not otherwise, and each has its place in the runbook."""

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from support.promql import ROOT, RULES, read_alerts

pytestmark = pytest.mark.contract

CASES = Path(__file__).with_name("alerts.yaml")
RUNBOOK = ROOT / "docs" / "how-to" / "runbook.md"
NAMES = [rule["alert"] for rule in read_alerts()]

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not on this machine: install Debian's package prometheus"
)


def promtool(*arguments: str) -> None:
    program = shutil.which("promtool")
    assert program is not None
    finished = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@needs_promtool
def test_prometheus_reads_the_rules() -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", str(RULES))


@needs_promtool
def test_alerts_fire_when_they_should_and_not_otherwise() -> None:
    promtool("test", "rules", str(CASES))


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    fires: dict[str, set[bool]] = defaultdict(set)
    for case in yaml.safe_load(CASES.read_text())["tests"]:
        for asked in case["alert_rule_test"]:
            fires[asked["alertname"]].add(bool(asked["exp_alerts"]))
    assert fires == {name: {True, False} for name in NAMES}


def test_alerts_have_names_of_their_own() -> None:
    assert len(set(NAMES)) == len(NAMES) > 0
    assert all(re.fullmatch(r"Nashdex[A-Z]\w+", name) for name in NAMES)


@pytest.mark.parametrize("rule", read_alerts(), ids=NAMES)
def test_an_alert_says_what_it_is_and_where_to_read_on(rule: dict[str, dict[str, str]]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning"}
    notes = rule["annotations"]
    assert notes.keys() == {"summary", "description", "runbook_url"}
    assert "\n" not in notes["summary"]
    page, _, anchor = notes["runbook_url"].partition("#")
    assert page.endswith("docs/how-to/runbook.md")
    assert anchor == str(rule["alert"]).lower()


def test_the_runbook_speaks_of_every_alert_and_of_no_other() -> None:
    text = RUNBOOK.read_text().partition("## Alerts\n")[2].partition("\n## ")[0]
    assert re.findall(r"^### (Nashdex\w+)$", text, re.MULTILINE) == NAMES
