"""``nashdex bench acting``: a network and an ensemble of it answer the same decisions."""

import json
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration

ONE = "zoo:gen1randombattle"


def test_policies_of_one_format_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "ensembles")
    assert run_command_line(["policy", "ensemble", store, ONE, f"{ONE}@T0.5", "--json"]) == 0
    two = f"{store}#{json.loads(capsys.readouterr().out)['id']}"
    assert run_command_line(["bench", "acting", ONE, two, "--batch", "8", "--repetitions", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["format"], found["batch"]) == ("gen1randombattle", 8)
    assert [each["policy"] for each in found["policies"]] == [ONE, two]
    assert found["policies"][0]["ratio"] == 1
    assert run_command_line(["bench", "acting", ONE, "zoo:gen1ou-4m"]) == 64
    assert "expected one format" in capsys.readouterr().err
