"""The first iteration of metamon's population: human models, baselines, and a network that remembers."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.population import Population
from nashdex.planning.dag import iteration_steps, num_shards
from nashdex.report.document import Report
from nashdex.runs.creation import open_run
from nashdex.store import open_store
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written
from nashdex_metamon.checkpoints.archive import import_checkpoint
from support.begun_runs import begin_run
from support.image_packages import ABSENT_PACKAGES, IMAGE_OF_STEP
from support.metamon_goldens import amago_mini

pytestmark = pytest.mark.integration

CONFIG = Path(__file__).parents[2] / "configs" / "metamon-psro.toml"
BASELINES = ("random", "metamon:mini-rnn", "metamon:gym-leader", "metamon:grunt")
STEP = """
import sys
sys.modules |= dict.fromkeys(sys.argv[1].split(","))  # importing one of them fails
from nashdex.core.steps import StepName
from nashdex.planning.dag import step_function
from nashdex.runs.creation import open_run
run = open_run(sys.argv[3])
step_function(StepName(sys.argv[2]))(run.store, run.settings, 0, int(sys.argv[4]))
"""


def run_as_in_image(step: StepName, uri: str, shard: int) -> None:
    """Run a step of iteration 0 with the packages of its image alone."""
    absent = ABSENT_PACKAGES[IMAGE_OF_STEP[step]]
    command = [sys.executable, "-c", STEP, ",".join(absent), step.value, uri, str(shard)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_population_of_metamons_world_plays_its_first_iteration(tmp_path: Path) -> None:
    """The imported policy plays from the run's store, as in pods: what it was imported from is gone."""
    imports = tmp_path / "imports"
    imported = import_checkpoint(
        open_store(str(imports)),
        amago_mini(),
    ).id
    overrides = [
        f"population.initial={[*BASELINES, f'{imports}#{imported}']}",
        "network.kind='memory'",
        "collect.battles=4",
        "collect.shards=1",
        "train.first.num_epochs=1",
        "evaluate.battles_per_pair=2",
        "evaluate.shards=1",
    ]
    begun = begin_run(str(tmp_path / "runs"), CONFIG, name="phase-zero", overrides=overrides)
    shutil.rmtree(imports)
    run = open_run(begun.store.uri)
    for step in iteration_steps(run.settings):
        for shard in range(num_shards(run.settings, step.name)):
            run_as_in_image(step.name, run.store.uri, shard)
    solved = read_manifest(run.store, 0, StepName.SOLVE, 0)
    population = read_written(run.store, solved, keys.POPULATION, Population)
    assert population.ids[:-1] == (*BASELINES, imported)
    assert [entry.kind for entry in population.policies] == ["scripted"] * 4 + ["imported", "network"]
    analysis = read_written(run.store, solved, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert {policy: rating.games for policy, rating in analysis.ratings.items()} == dict.fromkeys(population.ids, 10)
    report = read_written(run.store, read_manifest(run.store, 0, StepName.REPORT, 0), keys.REPORT, Report)
    assert {row.id for row in report.policies if row.anchor} == set(population.ids)
    (row,) = (row for row in report.policies if row.id == imported)
    assert (row.kind, row.name) == ("imported", "amago-mini")
