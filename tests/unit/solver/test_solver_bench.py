"""The bench of the metagame measures every solver on games that it can solve."""

import json

import pytest

from nashdex.metagame.solvers.registry import META_SOLVERS
from nashdex_cli.cli import run_command_line


@pytest.mark.slow
def test_every_solver_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["bench", "metagame", "--policies", "5", "--draws", "100", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["num_policies"], printed["num_draws"]) == (5, 100)
    assert [solver["meta_solver"] for solver in printed["solvers"]] == list(META_SOLVERS.names)
    assert all(solver["posterior_cpu_seconds"] > 0 for solver in printed["solvers"])


def test_more_policies_than_solvers_take_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["bench", "metagame", "--policies", "501"]) == 64
    assert "--policies" in capsys.readouterr().err
