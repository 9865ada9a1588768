"""A run of real battles whose members retire, verified."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.runs.creation import open_run
from nashdex.runs.verification import verify_run
from nashdex.store.documents import read_published
from nashdex_cli.cli import run_command_line
from support.begun_runs import TINY_TRAINING

pytestmark = [pytest.mark.integration, pytest.mark.slow]
RUN = f"""
format = "gen1randombattle"
iterations = 4
[population]
initial = ["random", "max-power"]
retire_after_iterations = 1
{TINY_TRAINING}
[train.oracle]
decisions = 200
round_battles = 2
[evaluate]
battles_per_pair = 4
shards = 1
[solve]
num_draws = 100
unplayed = "bradley-terry"
"""


def test_members_retire_from_battles_and_the_run_is_verified(tmp_path: Path) -> None:
    settings = tmp_path / "run.toml"
    settings.write_text(RUN)
    store = str(tmp_path / "store")
    assert run_command_line(["run", str(settings), "--store", store, "--run", "retiring", "--processes", "1"]) == 0
    run = open_run(f"{store}/retiring")
    plan = read_published(run.store, 3, keys.PLAN, IterationPlan)
    retired = set(plan.population.ids) - set(plan.population.active.ids)
    assert retired
    assert not retired & plan.opponents.keys()
    matrix = read_published(run.store, 3, keys.INTERACTION_MATRIX, SampledCounts)
    (newest,) = set(matrix.policies) - set(plan.population.ids)
    games = dict(zip(matrix.policies, matrix.games[matrix.policies.index(newest)], strict=True))
    assert {games[policy] for policy in retired} == {0}
    assert {games[policy] for policy in plan.population.active.ids} == {4}
    assert verify_run(run).problems == []
