"""What collect records, on a real small game."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nashdex.collector.step import run
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.results import COLLECT_RESULT, CollectResult
from nashdex.core.steps import StepName
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.tables import save_table_policy
from nashdex.settings.run import RunSettings
from nashdex.settings.train import TrainSettings
from nashdex.store import open_store
from nashdex.store.attempt import find_manifest
from nashdex.store.documents import read_written
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import read_shards
from support.plans import publish_plan
from support.tournaments import population

RANDOM, FIRST_ACTION = PolicyId("random"), PolicyId("first-action")
BATTLES = 30
SETTINGS = RunSettings.model_validate(
    {
        "format": "kuhn_poker",
        "seed": 5,
        "population": {"initial": ["random", "first-action"]},
        "arena": {"concurrent_battles": 8},
        "collect": {"battles": BATTLES, "shards": 1, "teacher": "random"},
    }
)


def _plan(oracle: str, rule: str, opponents: dict[PolicyId, float]) -> IterationPlan:
    return IterationPlan(
        iteration=1,
        oracle=oracle,
        population=population("random", "first-action"),
        rule=rule,
        opponents=opponents,
        learner=RANDOM,
    )


def _collect(
    folder: Path, rule: str, opponents: dict[PolicyId, float], settings: RunSettings = SETTINGS, oracle: str = "clone"
) -> tuple[CollectResult, list[Episode]]:
    """Collect battles of ``random`` in the learner's seat."""
    store = open_store(str(folder))
    publish_plan(store, _plan(oracle, rule, opponents))
    manifest = run(store, settings, 1, 0)
    return read_written(store, manifest, COLLECT_RESULT, CollectResult), read_shards(store, [manifest])[1]


def on_gpu() -> RunSettings:
    collect = SETTINGS.collect.model_copy(update={"device": "cuda"})
    return SETTINGS.model_copy(update={"collect": collect})


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_gpu_that_is_not_there_is_refused_before_a_battle(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"collect\.device is 'cuda', and torch finds no CUDA device here"):
        _collect(tmp_path, "self-play", {RANDOM: 1.0}, on_gpu())


def test_the_time_with_a_gpu_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where only scripted policies play: the pod holds it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    _collect(tmp_path, "self-play", {RANDOM: 1.0}, on_gpu())
    manifest = find_manifest(open_store(str(tmp_path)), 1, StepName.COLLECT, 0)
    assert manifest is not None
    assert manifest.gpu_seconds == manifest.seconds > 0


def test_self_play_records_both_seats_of_every_battle_and_counts_it_once(tmp_path: Path) -> None:
    result, episodes = _collect(tmp_path, "self-play", {RANDOM: 1.0})
    seats: dict[int, set[int]] = {}
    for episode in episodes:
        assert (episode.policy, episode.opponent) == (RANDOM, RANDOM)
        seats.setdefault(episode.seed, set()).add(episode.seat)
    assert list(seats.values()) == [{0, 1}] * BATTLES
    scores = {seed: sum(e.score for e in episodes if e.seed == seed) for seed in seats}
    assert set(scores.values()) == {1.0}, "what one seat wins the other loses"
    (count,) = result.opponents
    assert count.wins + count.draws + count.losses == result.battles == BATTLES
    assert result.recorded_decisions == result.decisions == sum(len(episode) for episode in episodes)


@pytest.mark.parametrize("oracle", ["fresh", "null"])
def test_an_oracle_that_reads_only_the_space_gets_one_battle(tmp_path: Path, oracle: str) -> None:
    train = TrainSettings.model_validate({"first" if oracle == "fresh" else "oracle": {"kind": oracle}})
    settings = SETTINGS.model_copy(update={"train": train})
    result, episodes = _collect(tmp_path, "self-play", {RANDOM: 1.0}, settings, oracle)
    assert result.battles == 1
    assert [episode.seat for episode in episodes] == [0, 1]


@pytest.mark.parametrize("rule", ["meta-strategy", "initial"])
def test_a_member_that_happens_to_be_the_learner_is_met_from_one_seat(tmp_path: Path, rule: str) -> None:
    result, episodes = _collect(tmp_path, rule, {RANDOM: 1.0})
    assert len({episode.seed for episode in episodes}) == len(episodes) == BATTLES
    assert result.recorded_decisions < result.decisions


def test_a_league_records_both_seats_only_of_battles_with_itself(tmp_path: Path) -> None:
    _, episodes = _collect(tmp_path, "league", {RANDOM: 0.5, FIRST_ACTION: 0.5})
    per_battle: dict[int, list[Episode]] = {}
    for episode in episodes:
        per_battle.setdefault(episode.seed, []).append(episode)
    assert len(per_battle) == BATTLES
    assert {(battle[0].opponent, len(battle)) for battle in per_battle.values()} == {(RANDOM, 2), (FIRST_ACTION, 1)}
    assert {episode.policy for episode in episodes} == {RANDOM}


def test_an_opponent_plays_as_its_id_says(tmp_path: Path) -> None:
    tree = openspiel_tree("kuhn_poker")
    rarely_bets = np.tile([0.6, 0.4], (tree.num_states, 1))
    policy = save_table_policy(
        open_store(str(tmp_path)), tree, rarely_bets, name="p", parent=None, iteration=0, oracle="exact"
    )
    opponent = PolicyId(f"{policy}@greedy")
    result, episodes = _collect(tmp_path, "meta-strategy", {opponent: 1.0})
    assert {count.opponent for count in result.opponents} == {opponent}
    assert {episode.opponent for episode in episodes} == {opponent}
    passes = tmp_path / "passes"
    passes.mkdir()
    _, expected = _collect(passes, "meta-strategy", {FIRST_ACTION: 1.0})
    assert [e.actions.tolist() for e in episodes] == [e.actions.tolist() for e in expected]


def test_in_a_game_for_stakes_any_gain_counts_as_a_win(tmp_path: Path) -> None:
    result, episodes = _collect(tmp_path, "meta-strategy", {FIRST_ACTION: 1.0})
    scores = [episode.score for episode in episodes]
    assert set(scores) == {0.25, 0.75}, "against who always passes one chip of two changes hands"
    (count,) = result.opponents
    assert (count.wins, count.draws, count.losses) == (scores.count(0.75), 0, scores.count(0.25))


@pytest.mark.parametrize("oracle", ["exact", "q-learning"])
def test_an_oracle_that_reads_the_tree_has_nothing_collected(tmp_path: Path, oracle: str) -> None:
    store = open_store(str(tmp_path))
    publish_plan(store, _plan(oracle, "initial", {RANDOM: 1.0}))
    manifest = run(store, SETTINGS, 1, 0)
    assert manifest.counts == {"battles": 0, "recorded_decisions": 0}
    result = read_written(store, manifest, COLLECT_RESULT, CollectResult)
    assert (result.battles, result.decisions, result.opponents) == (0, 0, ())
    assert run(store, SETTINGS, 1, 0) == manifest


def test_sizes_that_are_chosen_here_change_nothing_that_is_played(tmp_path: Path) -> None:
    chosen = SETTINGS.arena.model_copy(update={"gateways": 0, "concurrent_battles": 0})
    settings = SETTINGS.model_copy(update={"arena": chosen})
    opponents = {RANDOM: 0.5, FIRST_ACTION: 0.5}
    expected, episodes = _collect(tmp_path / "set", "meta-strategy", opponents)
    result, others = _collect(tmp_path / "chosen", "meta-strategy", opponents, settings)
    assert result.opponents == expected.opponents

    def played(found: list[Episode]) -> set[tuple[int, int, tuple[int, ...]]]:
        return {(e.seed, e.seat, tuple(e.actions.tolist())) for e in found}

    assert played(others) == played(episodes)
    assert len(others) == BATTLES
