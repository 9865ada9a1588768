"""A run that clones raw replays beside a teacher and goes on by PPO, from its store alone; and its battles' export."""

import json
import shutil
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.ids import replayed_policy
from nashdex.core.steps import StepName
from nashdex.metagame.population import Population
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.report.document import Report, Training
from nashdex.runs.creation import open_run
from nashdex.settings.oracles import CloneSettings
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written
from nashdex.telemetry.progress import Progress
from nashdex_cli.cli import run_command_line
from nashdex_replays.collecting import ShowdownReplays
from support.begun_runs import begin_run

pytestmark = pytest.mark.integration

CONFIGS = Path(__file__).parents[2] / "configs"
LOGS = Path(__file__).parents[1] / "data" / "metamon" / "logs"
SMALL = (
    "iterations=2",
    "network.kind='slots'",
    "network.embedding_size=4",
    "network.entity_size=8",
    "network.hidden_size=16",
    "collect.battles=4",
    "collect.shards=2",
    "arena.concurrent_battles=4",
    "train.first.num_epochs=2",
    "train.first.critic_warmup_epochs=1",
    "train.oracle.decisions=400",
    "train.oracle.round_battles=4",
    "train.oracle.minibatch_decisions=64",
    "train.oracle.critic_warmup_decisions=150",
    "evaluate.battles_per_pair=2",
    "evaluate.replays_per_pair=1",
    "evaluate.shards=1",
    "actors.shards=0",
)


@pytest.mark.slow
def test_ppo_goes_on_from_a_clone_of_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The critic learns alone at first. The replays' file is gone once the run has begun."""
    replays = tmp_path / "people.jsonl.gz"
    shutil.copy(CONFIGS / "replays" / "gen1ou-sample.jsonl.gz", replays)
    overrides = [*SMALL, f"train.first.replays.path='{replays}'", "train.first.replays.share=0.7"]
    begun = begin_run(str(tmp_path / "runs"), CONFIGS / "gen1ou-replays.toml", name="cloned", overrides=overrides)
    replays.unlink()
    run = open_run(begun.store.uri)
    for iteration in range(2):
        for step in iteration_steps(run.settings):
            for shard in range(num_shards(run.settings, step.name)):
                step_function(step.name)(run.store, run.settings, iteration, shard)

    reported = read_manifest(run.store, 1, StepName.REPORT, 0)
    report = read_written(run.store, reported, keys.REPORT, Report)
    (clone,), (answer,) = (row.training for row in report.iterations)
    assert (clone.oracle, answer.oracle, answer.parent) == ("clone", "ppo", clone.policy)
    assert clone.name == "clone of heuristic and replays"
    assert answer.num_decisions >= 400
    check_warm_up(answer)
    groups = {name.removeprefix("validation_accuracy_") for name in clone.summary if name.startswith("validation_acc")}
    assert groups == {"validation_accuracy", "heuristic", "replays_unrated"}
    assert clone.summary["validation_decisions_replays_unrated"] > 100
    collected = [read_manifest(run.store, 0, StepName.COLLECT, shard).counts for shard in range(2)]
    assert sum(counts["replays"] + counts["refused_replays"] for counts in collected) == 60
    assert all(counts["unnamed_decisions"] for counts in collected)
    solved = read_manifest(run.store, 1, StepName.SOLVE, 0)
    population = read_written(run.store, solved, keys.POPULATION, Population)
    assert [entry.kind for entry in population.policies] == ["scripted", "scripted", "network", "network"]
    page = run.store.get(reported.objects[keys.REPORT_PAGE].key).decode()
    assert "players of replays without a rating" in page

    capsys.readouterr()
    out = tmp_path / "out"
    assert run_command_line(["data", "export", begun.store.uri, str(out), "--json"]) == 0
    exported = json.loads(capsys.readouterr().out)
    assert exported["read"] == 6  # one battle of each pair
    assert exported["files"] == 2 * (6 - sum(exported["refused"].values())) > 0
    assert run_command_line(["data", "export", begun.store.uri, str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == 0, "what exists is kept"
    assert run_command_line(["data", "stats", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gen1ou"]["files"] == exported["files"]


@pytest.mark.parametrize(
    ("wanted", "players", "scores"),
    [
        ({}, ["1200-1399", "1400-1599", "unrated"], {0.0, 1.0}),
        ({"min_rating": "1300"}, ["1400-1599"], {0.0}),
        ({"winners_only": "true"}, ["1200-1399", "unrated"], {1.0}),
    ],
)
def test_only_wanted_players_are_learned_from(
    wanted: dict[str, str], players: list[str], scores: set[float], tmp_path: Path
) -> None:
    """Three battles of people; in one the player rated 1225 beat the one rated 1424, the others are unrated."""
    values = {"path": f"'{LOGS}'", **wanted}
    given = [f"train.first.replays.{key}={value}" for key, value in values.items()]
    begun = begin_run(str(tmp_path), CONFIGS / "gen1ou-replays.toml", name="wanted", overrides=given)
    clone = begun.settings.train.first
    assert isinstance(clone, CloneSettings)
    progress = Progress(StepName.COLLECT, 0, 3, "battles")
    episodes = list(ShowdownReplays(begun.store, clone.replays, 1, 0).episodes(progress))
    assert sorted({episode.policy for episode in episodes}) == [replayed_policy(band) for band in players]
    assert {episode.score for episode in episodes} == scores


def check_warm_up(training: Training) -> None:
    """Check that the critic alone learns until its warm-up ends, and the policy after it."""
    begins = {curve.name: curve.updates[0] for curve in training.curves}
    assert begins["policy_loss"] > begins["value_loss"]


def test_only_runs_of_showdown_have_trajectories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = begin_run(str(tmp_path / "runs"), CONFIGS / "gen1ou.toml", name="empty", overrides=[])
    assert run_command_line(["data", "export", begun.store.uri, str(tmp_path / "out")]) == 65
    assert "stored no battle" in capsys.readouterr().err
    begun = begin_run(str(tmp_path / "runs"), CONFIGS / "kuhn.toml", name="kuhn", overrides=[])
    assert run_command_line(["data", "export", begun.store.uri, str(tmp_path / "out")]) == 64
    assert "expected a run of a Showdown format" in capsys.readouterr().err
    assert run_command_line(["data", "export", str(tmp_path / "none"), str(tmp_path / "out")]) == 65
