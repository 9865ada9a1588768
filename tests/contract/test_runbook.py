"""The runbook's policy, objects and names are those of the code and of the rendered chart."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python import Chart

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-to" / "runbook.md").read_text()
RIGHTS = {
    "get_object": "s3:GetObject",
    "head_object": "s3:GetObject",
    "put_object": "s3:PutObject",
    "delete_object": "s3:DeleteObject",
    "list_objects_v2": "s3:ListBucket",
}
"""What AWS requires for each call of the client."""


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language, without their indentation."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", TEXT, re.MULTILINE | re.DOTALL)
    return ["\n".join(line.removeprefix(indent) for line in text.splitlines()) for indent, text in found]


def rendered() -> list[dict[str, Any]]:
    """Return the chart's objects, with every role and account."""
    with Chart.load(ROOT / "helm" / "nashdex") as chart:
        texts = chart.render({"submitters": [submitter()]}, name="nashdex", namespace="nashdex")
    return [each for path, text in texts.items() if path.endswith(".yaml") for each in yaml.safe_load_all(text) if each]


def submitter() -> dict[str, str]:
    """Return the runbook's example of a submitter."""
    (found,) = (yaml.safe_load(text)["submitters"][0] for text in blocks("yaml") if text.startswith("submitters:"))
    return dict(found)


def test_the_policy_allows_what_the_store_asks_for_and_no_more() -> None:
    source = (ROOT / "services" / "nashdex" / "store" / "s3.py").read_text()
    called = set(re.findall(r"self\._client\.(\w+)\(|get_paginator\(\"(\w+)\"\)", source))
    operations = {first or second for first, second in called} - {"get_paginator"}
    (policy,) = (json.loads(text) for text in blocks("json") if '"Statement"' in text)
    allowed = {action for statement in policy["Statement"] for action in statement["Action"]}
    assert allowed == {RIGHTS[operation] for operation in operations}


def test_the_lifecycle_expires_no_current_object() -> None:
    (lifecycle,) = (json.loads(text) for text in blocks("json") if '"Rules"' in text)
    assert all("Expiration" not in rule for rule in lifecycle["Rules"])


def test_the_submitters_account_and_role_are_the_charts() -> None:
    objects = {(each["kind"], each["metadata"]["name"]): each for each in rendered()}
    assert ("ServiceAccount", "nashdex-submitter") in objects
    assert submitter() in objects["RoleBinding", "nashdex-submitter"]["subjects"]
    rules = objects["Role", "nashdex-submitter"]["rules"]
    assert any("workflows" in rule["resources"] and "create" in rule["verbs"] for rule in rules)
    assert "kubectl create token nashdex-submitter -n nashdex" in TEXT
    assert "--as=system:serviceaccount:nashdex:nashdex-submitter" in TEXT


def test_the_queues_of_the_runbook_fit_the_chart() -> None:
    (text,) = (text for text in blocks("yaml") if "ClusterQueue" in text)
    queues = list(yaml.safe_load_all(text))
    clusters = {each["metadata"]["name"] for each in queues if each["kind"] == "ClusterQueue"}
    local = {each["metadata"]["name"]: each["spec"]["clusterQueue"] for each in queues if each["kind"] == "LocalQueue"}
    assert set(local.values()) == clusters
    named = dict(re.findall(r"queueing\.kueue\.localQueues\.(cpu|gpu)=(\w+)", TEXT))
    assert set(named.values()) == set(local)


def test_an_upgrade_takes_the_new_defaults() -> None:
    """Of every page: --reuse-values would keep the old version's defaults, and miss new values."""
    pages = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
    upgrades = [line for text in pages for line in text.splitlines() if line.strip().startswith("helm upgrade ")]
    assert len(upgrades) >= 3
    assert all("--reset-then-reuse-values" in line or "--install" in line for line in upgrades)


def test_no_step_of_the_installation_is_numbered_twice() -> None:
    section = TEXT.partition("## Installing\n")[2].partition("\n## ")[0]
    assert re.findall(r"^(\d+)\. \*\*", section, re.MULTILINE) == [str(number) for number in range(1, 11)]
