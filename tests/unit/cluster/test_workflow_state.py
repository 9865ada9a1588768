"""Reading Workflow objects, plain and compressed."""

import base64
import copy
import gzip
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex_cli.commands.cluster.follow import run_table, runs_table, state_line
from nashdex_cluster.status import failure, run_status
from nashdex_cluster.workflow_state import WorkflowState, read_workflow

DATA = Path(__file__).parents[2] / "data" / "workflows"
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def recorded(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return document


def shown(table: object) -> str:
    text = io.StringIO()
    Console(width=160, file=text).print(table)
    return text.getvalue()


def node_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    node: dict[str, Any] = next(n for n in document["status"]["nodes"].values() if n["displayName"] == name)
    return node


def test_compressed_nodes_say_the_same() -> None:
    plain = recorded("iteration-succeeded")
    packed = copy.deepcopy(plain)
    nodes = json.dumps(packed["status"].pop("nodes")).encode()
    packed["status"]["compressedNodes"] = base64.b64encode(gzip.compress(nodes)).decode()
    assert read_workflow(packed) == read_workflow(plain)
    packed["status"]["compressedNodes"] = "AAAA"
    with pytest.raises(DataError, match="compressed nodes"):
        read_workflow(packed)


def test_nodes_kept_in_a_database_are_said_to_be() -> None:
    document = recorded("iteration-succeeded")
    document["status"]["offloadNodeStatusVersion"] = "1"
    with pytest.raises(DataError, match="--server"):
        read_workflow(document)


def test_a_workflow_that_has_only_been_made_is_waiting() -> None:
    document = recorded("league-succeeded")
    del document["status"]
    status = run_status("one", [read_workflow(document)], NOW)
    assert (status.phase, status.iterations, status.last, status.seconds) == ("Pending", (), None, None)
    assert state_line(status) == "run one: pending"


def test_a_shard_is_counted_once_however_often_it_was_tried() -> None:
    document = recorded("iteration-succeeded")
    nodes = document["status"]["nodes"]
    retry = node_of(document, "collect(0:0)")
    (first,) = retry["children"]
    nodes["second"] = nodes[first] | {"displayName": "collect(0:0)(1)", "phase": "Running"}
    nodes[first] |= {"phase": "Failed", "outputs": {"exitCode": "75"}}
    retry["children"].append("second")
    retry["phase"] = "Running"
    del retry["finishedAt"]
    document["status"]["phase"] = "Running"
    del document["status"]["finishedAt"]
    (iteration,) = run_status("one", [read_workflow(document)], NOW).iterations
    collect = next(step for step in iteration.steps if step.step == "collect")
    assert (collect.phase, collect.done, collect.shards, collect.tries) == ("Running", 0, 1, 2)


def test_a_step_whose_shards_are_still_to_come_is_not_done() -> None:
    document = recorded("iteration-succeeded")
    for name in ("plan", "plan(0)"):
        for output in node_of(document, name)["outputs"].get("parameters", []):
            if output["name"] == "collect-shards":
                output["value"] = "3"
    (iteration,) = run_status("one", [read_workflow(document)], NOW).iterations
    collect = next(step for step in iteration.steps if step.step == "collect")
    assert (collect.phase, collect.done, collect.shards) == ("Running", 1, 3)


def test_a_run_that_ended_well_has_no_failure() -> None:
    workflows = [read_workflow(recorded(name)) for name in ("league-succeeded", "iteration-succeeded")]
    assert failure("one", workflows) is None
    table = shown(run_table(run_status("one", workflows, NOW)))
    assert "0 of 0" in table
    assert "collect" not in table, "steps of an iteration that is done are not listed"


@pytest.mark.parametrize(("code", "kind"), [("64", ConfigurationError), ("65", DataError), ("75", TryAgainError)])
def test_a_run_fails_as_its_first_failed_step(code: str, kind: type[Exception]) -> None:
    documents = [recorded("league-stopped"), recorded("iteration-stopped")]
    pod = node_of(documents[1], "collect(0:0)(0)")
    pod |= {"outputs": {"exitCode": code}, "message": f"main: Error (exit code {code}): the reason"}
    failed = failure("sr", [read_workflow(document) for document in documents])
    assert type(failed) is kind
    assert str(failed) == f"run sr: collect of iteration 0, shard 0: main: Error (exit code {code}): the reason"


def test_a_league_that_fails_before_its_first_iteration_says_why() -> None:
    document = recorded("league-stopped")
    nodes = document["status"]["nodes"]
    retry = node_of(document, "begin")
    retry["phase"] = "Failed"
    nodes[retry["children"][0]] |= {"phase": "Failed", "message": "[no] bucket", "outputs": {"exitCode": "64"}}
    workflows = [read_workflow(document)]
    status = run_status("sr", workflows, NOW)
    assert status.message == "[no] bucket"
    assert "[no] bucket" in shown(runs_table([status]))
    assert isinstance(failure("sr", workflows), ConfigurationError)


def test_an_iteration_that_was_stopped_after_its_report_is_done() -> None:
    document = recorded("iteration-succeeded")
    document["status"] |= {"phase": "Failed", "message": "Stopped with strategy 'Stop'"}
    (iteration,) = run_status("one", [read_workflow(document)], NOW).iterations
    assert (iteration.phase, iteration.message) == ("Succeeded", "")
    node_of(document, "report")["phase"] = "Failed"
    (iteration,) = run_status("one", [read_workflow(document)], NOW).iterations
    assert iteration.phase == "Failed"


def test_outputs_of_a_failed_step_have_no_values() -> None:
    """As Argo 3.7 writes them: a failed step's outputs keep their paths."""
    league, iteration = recorded("league-succeeded"), recorded("iteration-succeeded")
    for document, name in ((league, "begin"), (iteration, "plan")):
        document["status"]["phase"] = "Failed"
        for node in (node_of(document, name), node_of(document, f"{name}(0)")):
            node |= {"phase": "Failed", "message": "main: Error (exit code 64): other settings"}
            for parameter in node["outputs"]["parameters"]:
                del parameter["value"]
    status = run_status("one", [read_workflow(league), read_workflow(iteration)], NOW)
    assert (status.last, status.message) == (None, "main: Error (exit code 64): other settings")
    assert status.iterations[0].steps[0].phase == "Failed"


def test_of_an_iteration_done_again_the_newest_counts() -> None:
    old, new = recorded("iteration-stopped"), recorded("iteration-stopped")
    new["metadata"] |= {"name": "again", "creationTimestamp": "2026-11-30T00:00:00Z"}
    new["status"]["phase"] = "Running"

    def states() -> list[WorkflowState]:
        return [read_workflow(new), read_workflow(old)]

    assert [i.workflow for i in run_status("sr", states(), NOW).iterations] == ["again"]
    assert state_line(run_status("sr", states(), NOW)).startswith("run sr: running, iteration 0 collect 0/1 failed")
