"""Shards that ``nashdex bench scale`` measures are started as those of an iteration are."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from nashdex.core.ids import RunId
from nashdex_bench.scale import shards_workflow

pytestmark = pytest.mark.contract

ARGO = Path(__file__).parents[2] / "argo"


def template(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load((ARGO / f"{name}.yaml").read_text())["spec"]
    return spec


def test_shards_take_what_the_template_of_collecting_does() -> None:
    collect = template("nashdex-collect")
    workflow = shards_workflow("research", RunId("scale-gen1ou-2-0f0f0f"), 2)
    same = ("serviceAccountName", "activeDeadlineSeconds", "podGC", "podSpecPatch")
    assert {name: workflow["spec"][name] for name in same} == {name: collect[name] for name in same}
    assert workflow["metadata"]["labels"].items() >= collect["workflowMetadata"]["labels"].items()
    given = {parameter["name"]: parameter for parameter in workflow["spec"]["arguments"]["parameters"]}
    assert (given.pop("run")["value"], given.pop("iteration")["value"]) == ("scale-gen1ou-2-0f0f0f", "0")
    taken = {p["name"]: p for p in collect["arguments"]["parameters"] if p["name"] not in {"run", "iteration", "shard"}}
    assert given == taken


def test_shards_fan_out_as_in_an_iteration() -> None:
    tasks = [t for part in template("nashdex-iteration")["templates"] for t in part["dag"]["tasks"]]
    expected = next(task for task in tasks if task["name"] == "collect")
    workflow = shards_workflow("research", RunId("scale-gen1ou-4-0f0f0f"), 4)
    ((entry,),) = [part["dag"]["tasks"] for part in workflow["spec"]["templates"]]
    assert workflow["spec"]["entrypoint"] == workflow["spec"]["templates"][0]["name"]
    assert entry == {k: v for k, v in expected.items() if k != "depends"} | {"withSequence": {"count": "4"}}
