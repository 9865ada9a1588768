"""Players of other programs as members of a run: rated, in the payoff table, and never lost by absence."""

from contextlib import closing
from pathlib import Path

import pytest

from nashdex.cli import run_command_line
from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.games.showdown.gateway import Gateway
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.page.policies import page_policies
from nashdex.runs.verification import verify_run
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from support.begun_runs import begin_run
from support.made_runs import finish_iteration

pytestmark = [pytest.mark.integration, pytest.mark.slow]
MEMBER = PolicyId("external:mine")
RUN = """
format = "gen1randombattle"
iterations = 2
[population]
initial = ["random", "external:mine", "max-power"]
[network]
kind = "slots"
embedding_size = 4
entity_size = 8
hidden_size = 32
num_hidden_layers = 1
[collect]
battles = 2
shards = 1
[train]
first = "fresh"
[train.oracle]
decisions = 200
round_battles = 2
[evaluate]
battles_per_pair = 2
shards = 2
[solve]
meta_solver = "uniform"
num_draws = 100
unplayed = "bradley-terry"
"""


def games(store: ObjectStore, iteration: int) -> dict[PolicyId, int]:
    """Return how many battles the member has played with each other one."""
    matrix = read_published(store, iteration, keys.INTERACTION_MATRIX, SampledCounts)
    place = matrix.policies.index(MEMBER)
    return {policy: matrix.games[place][at] for at, policy in enumerate(matrix.policies) if at != place}


def test_a_member_from_outside_plays_when_it_is_there_and_loses_nothing_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = tmp_path / "players.toml"
    monkeypatch.setenv("NASHDEX_PLAYERS", str(players))
    players.write_text('[mine]\nclass = "no_such_module:Player"\n')
    settings = tmp_path / "run.toml"
    settings.write_text(RUN)
    run = begin_run(str(tmp_path / "store"), settings, name="outside")

    finish_iteration(run.store, run.settings, 0)
    assert set(games(run.store, 0).values()) == {0}, "absent: not played"
    analysis = read_published(run.store, 0, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert all(MEMBER in cell for cell in analysis.imputed_cells)
    assert MEMBER not in read_published(run.store, 0, keys.PLAN, IterationPlan).opponents

    players.write_text('[mine]\nclass = "poke_env.player:RandomPlayer"\nat_once = 1\n')
    command = ["run", str(settings), "--store", str(tmp_path / "store"), "--run", "outside", "--processes", "1"]
    assert run_command_line(command) == 0
    assert set(games(run.store, 1).values()) == {2}, "it plays all that it missed"
    assert len(games(run.store, 1)) == 4
    analysis = read_published(run.store, 1, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert MEMBER in analysis.ratings
    plan = read_published(run.store, 1, keys.PLAN, IterationPlan)
    assert MEMBER not in plan.opponents
    assert sum(plan.opponents.values()) == pytest.approx(1.0)
    assert verify_run(run).problems == []
    with closing(Gateway("gen1randombattle")) as gateway, pytest.raises(ConfigurationError, match="no page can play"):
        page_policies([f"{run.store.uri}#nash"], gateway.space)
