"""Oracles that answer with a table: the exact best response, and Q-learning, on games with known answers."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import uniform_table
from nashdex.games.tabular.values import best_response, payoffs_between
from nashdex.oracles.tabular import ActionValues, learn
from nashdex.oracles.tree import TreeOpponents
from nashdex.policies.document import read_document
from nashdex.policies.tables import load_table
from nashdex.settings.oracles import QLearningSettings
from nashdex.store import open_store
from nashdex.store.attempt import find_manifest
from nashdex.telemetry.progress import Progress
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.tables import first_action_table

KUHN = openspiel_tree("kuhn_poker")
UNIFORM_VALUE = 11 / 24
"""Of Kuhn poker's best response to the uniformly random player: half of its NashConv, 11/12."""


def test_the_exact_oracle_stores_the_best_response(tmp_path: Path) -> None:
    store, settings = open_store(str(tmp_path)), kuhn_settings(oracle="exact")
    result = trained(store, settings, 0, "exact", RANDOM, {RANDOM: 1.0})
    assert result.summary["value"] == pytest.approx(UNIFORM_VALUE)
    assert (result.oracle, result.parent, result.num_decisions, result.reference) == ("exact", None, 0, "none")
    table = load_table(store, result.policy, KUHN)
    np.testing.assert_array_equal(table, best_response(KUHN, [uniform_table(KUHN)], [1.0])[0])
    document = read_document(store, BarePolicyId(result.policy))
    assert (document.kind, document.oracle, document.name) == ("table", "exact", "best response 0")


def test_the_exact_oracle_answers_the_mixture_by_the_opponents_ids(tmp_path: Path) -> None:
    """Weights belong to ids: applied by position after a reorder, they would answer another mixture."""
    store, settings = open_store(str(tmp_path)), kuhn_settings(oracle="exact")
    result = trained(store, settings, 0, "exact", RANDOM, {RANDOM: 0.9, FIRST_ACTION: 0.1})
    tables = [uniform_table(KUHN), first_action_table(KUHN)]
    assert result.summary["value"] == pytest.approx(best_response(KUHN, tables, [0.9, 0.1])[1])
    assert result.summary["value"] != pytest.approx(best_response(KUHN, tables, [0.1, 0.9])[1])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_q_learning_finds_kuhns_best_response_to_uniform(seed: int) -> None:
    settings = QLearningSettings(battles=50_000)
    with Progress(StepName.TRAIN, 0, settings.battles, "battles") as progress:
        learnt = learn(TreeOpponents(KUHN, uniform_table(KUHN)[None], np.array([1.0])), settings, seed, progress)
    value = payoffs_between(KUHN, learnt.table[None], uniform_table(KUHN)[None])[0, 0]
    assert UNIFORM_VALUE - 0.02 < value <= UNIFORM_VALUE + 1e-12
    assert learnt.num_updates == 50
    assert 50_000 <= learnt.num_decisions <= 100_000


def test_the_q_learning_step_comes_close_to_the_exact_answer_of_a_mixture(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    settings = kuhn_settings(oracle={"kind": "q-learning", "battles": 40_000})
    result = trained(store, settings, 0, "q-learning", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5})
    best = result.summary["best_response_value"]
    assert best - 0.05 < result.summary["value"] <= best + 1e-12
    assert result.num_updates == 40
    assert result.curve[0].values["exploration"] == 0.5
    assert result.curve[-1].values["exploration"] == pytest.approx(0.05, abs=0.02)
    again = open_store(str(tmp_path / "again"))
    assert trained(again, settings, 0, "q-learning", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}).policy == result.policy


def test_an_action_value_moves_to_the_mean_of_its_targets_and_ever_less() -> None:
    values = ActionValues(KUHN)
    state = np.array([0])
    assert values.update(np.array([1, 1]), np.array([1.0, 3.0])) == pytest.approx(5.0), "mean squared error from 0"
    assert values.best(state)[0] == pytest.approx(2.0)
    assert values.greedy(state)[0] == 1
    values.update(np.array([1]), np.array([0.0]))
    assert values.best(state)[0] == pytest.approx(2.0 - 2.0 * 2**-0.7), "the second step is shorter"


def test_an_oracle_of_tables_is_refused_where_there_is_no_tree(tmp_path: Path) -> None:
    settings = kuhn_settings(oracle="exact").model_copy(update={"format": "gen1ou"})
    store = open_store(str(tmp_path))
    with pytest.raises(ConfigurationError, match="gen1ou' is not a tabular game"):
        trained(store, settings, 0, "exact", RANDOM, {RANDOM: 1.0})
    assert find_manifest(store, 0, StepName.TRAIN, 0) is None


def test_a_missing_opponent_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no policy 'p0123456789abcdef'"):
        trained(
            open_store(str(tmp_path)),
            kuhn_settings(oracle="exact"),
            0,
            "exact",
            RANDOM,
            {PolicyId("p0123456789abcdef"): 1.0},
        )


TRAIN = """
import sys
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.trainer.step import run
run(open_store(sys.argv[1]), RunSettings.model_validate_json(sys.argv[2]), 1, 0)
print("torch" in sys.modules)
"""


def test_a_table_is_trained_without_torch(tmp_path: Path) -> None:
    """A step of the exact oracle takes a fraction of a second because it never loads what networks need."""
    store, settings = open_store(str(tmp_path)), kuhn_settings(oracle="exact")
    first = trained(store, settings, 0, "exact", RANDOM, {RANDOM: 1.0}).policy
    prepare(store, settings, 1, "exact", first, {RANDOM: 0.5, first: 0.5})
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, str(tmp_path), settings.model_dump_json()],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split()[-1] == "False"
