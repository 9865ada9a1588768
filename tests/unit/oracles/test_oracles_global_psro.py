"""Global PSRO on Kuhn poker: population exploitability, and the candidate that lowers it most."""

from pathlib import Path

import numpy as np
import pytest

from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import uniform_table
from nashdex.games.tabular.values import best_response
from nashdex.oracles.global_psro import PopulationExploitability
from nashdex.policies.tables import load_table
from nashdex.store import open_store
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, trained
from support.tables import first_action_table

KUHN = openspiel_tree("kuhn_poker")


def test_population_exploitability_is_the_least_that_any_mixture_has() -> None:
    game = PopulationExploitability(KUHN)
    tables = [uniform_table(KUHN), first_action_table(KUHN)]
    least = game.least(np.stack([game.payoffs_against(table) for table in tables]))
    assert best_response(KUHN, tables, least.mixture)[1] == pytest.approx(least.exploitability, abs=1e-9)
    on_a_grid = [best_response(KUHN, tables, [share, 1 - share])[1] for share in np.linspace(0, 1, 101)]
    assert min(on_a_grid) - 0.02 < least.exploitability <= min(on_a_grid) + 1e-9


def test_a_population_of_one_is_as_exploitable_as_its_policy() -> None:
    game = PopulationExploitability(KUHN)
    least = game.least(game.payoffs_against(uniform_table(KUHN))[None])
    assert least.exploitability == pytest.approx(11 / 24)
    assert least.mixture.tolist() == [1.0]


def test_one_candidate_is_the_best_response_to_the_opponents(tmp_path: Path) -> None:
    opponents = {RANDOM: 0.9, FIRST_ACTION: 0.1}
    exact = trained(open_store(str(tmp_path / "exact")), kuhn_settings(oracle="exact"), 0, "exact", RANDOM, opponents)
    settings = kuhn_settings(oracle={"kind": "global-psro", "num_candidates": 1})
    alone = trained(open_store(str(tmp_path / "alone")), settings, 0, "global-psro", RANDOM, opponents)
    assert alone.policy == exact.policy


def test_the_best_of_several_candidates_leaves_the_population_less_exploitable(tmp_path: Path) -> None:
    """The best response to always passing bluffs with every card, which helps the population little."""
    summaries, tables = {}, {}
    for num_candidates in (1, 8):
        store = open_store(str(tmp_path / str(num_candidates)))
        settings = kuhn_settings(oracle={"kind": "global-psro", "num_candidates": num_candidates})
        result = trained(store, settings, 0, "global-psro", RANDOM, {FIRST_ACTION: 1.0})
        summaries[num_candidates] = result.summary
        tables[num_candidates] = load_table(store, result.policy, KUHN)
    population = [uniform_table(KUHN), first_action_table(KUHN), tables[8]]
    game = PopulationExploitability(KUHN)
    least = game.least(np.stack([game.payoffs_against(table) for table in population]))
    assert summaries[8]["population_exploitability"] == pytest.approx(least.exploitability)
    assert summaries[8]["population_exploitability"] < summaries[1]["population_exploitability"] - 0.01
    assert summaries[8]["value"] <= summaries[8]["best_response_value"] + 1e-12
