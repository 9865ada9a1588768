"""Whole runs of the configurations that ship: the loop reaches what theory says, and its files show it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.values import nash_conv
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.policies.tables import load_table
from nashdex.runs.creation import Run
from nashdex.settings.run import RunSettings
from nashdex.store.documents import read_published
from support.begun_runs import begin_run
from support.mixed_table import mixed_table

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


def begin(folder: Path, config: str, *overrides: str) -> Run:
    return begin_run(str(folder), ROOT / "configs" / config, overrides=list(overrides))


def do_iteration(run: Run, iteration: int) -> None:
    """Do every step but the report, in this process."""
    for step in iteration_steps(run.settings):
        if step.name != StepName.REPORT:
            for shard in range(num_shards(run.settings, step.name)):
                step_function(step.name)(run.store, run.settings, iteration, shard)


def do_run(run: Run) -> list[float]:
    """Do every iteration; return the exact exploitability that each published."""
    for iteration in range(run.settings.iterations):
        do_iteration(run, iteration)
    return [exact_of(run, iteration) for iteration in range(run.settings.iterations)]


def exact_of(run: Run, iteration: int) -> float:
    analysis = read_published(run.store, iteration, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    exact = analysis.exploitability.exact
    assert exact is not None
    assert exact.estimator == "exact"
    assert exact.low == exact.value == exact.high
    return exact.value


def mixture_of(run: Run, iteration: int) -> dict[PolicyId, float]:
    strategy = read_published(run.store, iteration, keys.META_STRATEGY, MetaStrategy).meta_strategy
    return {policy: share for policy, share in strategy.items() if share > 0}


def tables_of(run: Run, policies: Sequence[PolicyId], settings: RunSettings) -> list[np.ndarray]:
    tree = tabular_game_of_run(run.store, settings).tree
    return [load_table(run.store, policy, tree) for policy in policies]


def test_nash_with_exact_best_responses_solves_kuhn_within_twelve_iterations(tmp_path: Path) -> None:
    run = begin(tmp_path, "kuhn.toml")
    exact = do_run(run)
    assert run.settings.iterations == 12
    assert exact[0] == pytest.approx(1.25), "the best response to always passing: a bluff that anyone may call"
    assert min(exact[:-1]) > 1e-3
    assert exact[-1] < 1e-6
    # The files agree with each other, and what is shipped cannot be exploited by anyone.
    tree = tabular_game_of_run(run.store, run.settings).tree
    shares = mixture_of(run, 11)
    tables = tables_of(run, list(shares), run.settings)
    assert nash_conv(tree, tables, list(shares.values())) == pytest.approx(0.0, abs=1e-9)
    shipped = mixed_table(tree, tables, list(shares.values()))
    assert nash_conv(tree, [shipped], [1.0]) == pytest.approx(0.0, abs=1e-9)
    matrix = read_published(run.store, 11, keys.INTERACTION_MATRIX, ExactValues)
    payoffs = np.array(matrix.payoffs)
    assert payoffs.shape == (13, 13)
    assert (payoffs == -payoffs.T).all()
    assert not matrix.battles_by_cell().any()


@pytest.mark.slow
def test_answering_the_uniform_mixture_gets_stuck_above_a_twentieth(tmp_path: Path) -> None:
    exact = do_run(begin(tmp_path, "kuhn.toml", "solve.meta_solver=uniform", "iterations=21"))
    assert 0.05 < exact[20] < 0.2
    assert exact[20] < exact[10] < exact[5], "fictitious play converges, but slowly"


def test_answering_the_last_policy_goes_round_in_circles(tmp_path: Path) -> None:
    exact = do_run(begin(tmp_path, "kuhn.toml", "solve.meta_solver=last", "iterations=14"))
    assert min(exact) > 0.15
    assert max(exact[7:]) > 1.0
    assert np.ptp(exact[7:]) > 0.9


def test_biased_rock_paper_scissors_comes_to_its_equilibrium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = begin(tmp_path, "biased-rps.toml")
    exact = do_run(run)
    assert [value < 1e-12 for value in exact] == [False, True, True, True], "solved with the third policy"
    shares = mixture_of(run, 3)
    tree = tabular_game_of_run(run.store, run.settings).tree
    mixed = mixed_table(tree, tables_of(run, list(shares), run.settings), list(shares.values()))
    np.testing.assert_allclose(mixed, np.array([[1, 10, 5], [1, 10, 5]]) / 16, atol=1e-9)


def test_leducs_first_answer_wins_half_of_nash_conv(tmp_path: Path) -> None:
    run = begin(tmp_path, "leduc.toml", "iterations=2")
    exact = do_run(run)
    assert min(exact) > 0.5, "NashConv is above 1 for dozens of iterations"
    matrix = read_published(run.store, 0, keys.INTERACTION_MATRIX, ExactValues)
    random = matrix.policies.index("random")
    assert matrix.payoffs[1 - random][random] == pytest.approx(4.747222222 / 2)


# What OpenBLAS and numpy choose on an old processor.
OLD_PROCESSOR = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL"}


def published_bytes(folder: Path, environment: dict[str, str]) -> list[bytes]:
    """Run four iterations of Kuhn in processes of their own; return what they publish of payoffs and mixture."""
    words = ["run", str(ROOT / "configs/kuhn.toml"), "--store", str(folder), "--run", "kuhn", "--set", "iterations=4"]
    subprocess.run([sys.executable, "-m", "nashdex_cli", *words], env=os.environ | environment, check=True, timeout=900)
    documents = keys.INTERACTION_MATRIX, keys.META_STRATEGY
    return [(folder / "kuhn" / keys.published(i, name)).read_bytes() for i in range(4) for name in documents]


@pytest.mark.slow
def test_payoffs_and_mixtures_are_the_same_bytes_whatever_the_processor(tmp_path: Path) -> None:
    assert published_bytes(tmp_path / "old", OLD_PROCESSOR) == published_bytes(tmp_path / "own", {})


def test_an_altered_table_stops_the_run(tmp_path: Path) -> None:
    run = begin(tmp_path, "kuhn.toml")
    do_iteration(run, 0)
    (policy,) = (policy for policy in mixture_of(run, 0) if policy != "first-action")
    key = keys.policy_table(BarePolicyId(policy))
    run.store.put(key, run.store.get(key)[:-1] + b"?")
    with pytest.raises(DataError, match=r"table\.safetensors has sha256 .* altered or truncated"):
        do_iteration(run, 1)
