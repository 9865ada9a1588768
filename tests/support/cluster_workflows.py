"""Workflows as a real cluster had them."""

import json
from pathlib import Path
from typing import Any

from support.cluster_server import ClusterState

_DATA = Path(__file__).parents[1] / "data" / "workflows"


def recorded_workflow(name: str, **labels: str) -> dict[str, Any]:
    """Return a Workflow as a real cluster had it."""
    workflow: dict[str, Any] = json.loads((_DATA / f"{name}.json").read_text())
    workflow["metadata"]["labels"] |= labels
    return workflow


def add_stopped_run(state: ClusterState, run: str = "sr") -> None:
    """Add a run whose league and iteration were stopped."""
    state.add(recorded_workflow("league-stopped"))
    state.add(recorded_workflow("iteration-stopped"))
    assert all(w["metadata"]["labels"]["nashdex.dev/run"] == run for w in state.workflows.values())
