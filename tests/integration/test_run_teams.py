"""Runs with teams of their own, which the simulator checks before anything is written."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId
from nashdex.games.registry import game_for, game_of_run
from nashdex.games.teams import training_teams
from nashdex.learning.experience.data import fresh_network
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles, RoundBattles
from nashdex.learning.rounds.players import play_planned
from nashdex.rollout.session import Session
from support.begun_runs import begin_run

pytestmark = pytest.mark.integration


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "teams.toml"
    path.write_text(f'format = "gen1ou"\nrun = "own-teams"\nteams = "{tmp_path / "teams.txt"}"\n')
    (tmp_path / "teams.txt").write_text("\n".join(game_for("gen1ou").teams()[:2]) + "\n")
    return path


@pytest.mark.slow
def test_the_teams_are_kept_with_the_run_and_may_not_change(config: Path, tmp_path: Path) -> None:
    run = begin_run(str(tmp_path / "store"), config)
    assert list(game_of_run(run.store, run.settings).teams()) == list(game_for("gen1ou").teams()[:2])
    stored = run.store.get(keys.TEAMS)
    assert begin_run(str(tmp_path / "store"), config).store.get(keys.TEAMS) == stored
    (tmp_path / "teams.txt").write_text(game_for("gen1ou").teams()[3] + "\n")
    with pytest.raises(ConfigurationError, match=r"teams: the content of .*teams\.txt has changed"):
        begin_run(str(tmp_path / "store"), config)
    assert run.store.get(keys.TEAMS) == stored


@pytest.mark.parametrize(
    ("text", "says"), [("Pikachu\n- Fly\n", "Pikachu's move Fly is banned"), ("", "no team"), ("# nothing\n", "team")]
)
def test_an_illegal_team_is_refused_in_the_validators_words(text: str, says: str, config: Path, tmp_path: Path) -> None:
    (tmp_path / "teams.txt").write_text(text)
    with pytest.raises(DataError, match=says) as refusal:
        begin_run(str(tmp_path / "store"), config)
    assert "teams.txt" in str(refusal.value)
    assert not (tmp_path / "store").exists()


RANDOM = PolicyId("random")


@pytest.fixture
def scheduled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a configuration whose training battles use the set `mine`, and from iteration 2 on also `wide`.

    Payoffs use `mine`'s first team alone.
    """
    teams = game_for("gen1ou").teams()
    for name, packed in (("mine", teams[:2]), ("wide", teams[2:5]), ("fixed", teams[:1])):
        folder = tmp_path / "sets" / name / "gen1ou"
        folder.mkdir(parents=True)
        (folder / "all.gen1ou_team").write_text("\n".join(packed) + "\n")
    monkeypatch.setenv("NASHDEX_TEAM_SETS", str(tmp_path / "sets"))
    path = tmp_path / "scheduled.toml"
    path.write_text(
        'format = "gen1ou"\nrun = "scheduled"\nteams = "fixed"\n'
        "[[team_schedule]]\nfrom_iteration = 0\nsets = { mine = 1 }\n"
        "[[team_schedule]]\nfrom_iteration = 2\nsets = { mine = 1, wide = 3 }\n"
    )
    return path


@pytest.mark.slow
def test_training_battles_follow_the_schedule_and_evaluations_do_not(scheduled: Path, tmp_path: Path) -> None:
    run = begin_run(str(tmp_path / "store"), scheduled)
    game = game_of_run(run.store, run.settings)
    assert list(game.teams()) == list(game_for("gen1ou").teams()[:1])
    early, later = (training_teams(run.store, run.settings.team_schedule, game, iteration) for iteration in (1, 4))
    seeds = range(0, 2**64, 2**64 // 400)
    assert {early.draw(seed)[0] for seed in seeds} == {"mine 1", "mine 2"}
    assert {later.draw(seed)[0] for seed in seeds} == {"mine 1", "mine 2", "wide 1", "wide 2", "wide 3"}
    round_ = RoundBattles(
        round=0, seed=1, num_battles=4, opponents={RANDOM: 1.0}, snapshots=(), snapshot_share=0.0,
        records_opponents=False, deadline_seconds=120.0,
    )  # fmt: skip
    evaluation = EvaluationBattles(
        round=0, seed=1, battles_each=2, matches=(("sampled", RANDOM),), deadline_seconds=120.0
    )
    with Session(game.open_arena(num_gateways=1), 4) as session:
        networks = {NEWEST: fresh_network(session.space, run.settings.network, seed=0)}
        trained = play_planned(session, run.store, game, round_, networks, range(4), later)
        evaluated = play_planned(session, run.store, game, evaluation, networks, range(2), later)
    names = {name for one in trained for name in one.assignment.team_names}
    assert names <= {"mine 1", "mine 2", "wide 1", "wide 2", "wide 3"}
    assert {one.assignment.spec.teams for one in evaluated} == {tuple(game.teams()) * 2}


@pytest.mark.slow
def test_the_teams_of_a_schedule_are_kept_with_the_run_and_may_not_change(scheduled: Path, tmp_path: Path) -> None:
    run = begin_run(str(tmp_path / "store"), scheduled)
    stored = run.store.get(keys.TEAM_SETS)
    assert begin_run(str(tmp_path / "store"), scheduled).store.get(keys.TEAM_SETS) == stored
    file = tmp_path / "sets" / "wide" / "gen1ou" / "all.gen1ou_team"
    file.write_text(game_for("gen1ou").teams()[5] + "\n")
    with pytest.raises(ConfigurationError, match=r"team_schedule: the teams of its sets have changed"):
        begin_run(str(tmp_path / "store"), scheduled)
    assert run.store.get(keys.TEAM_SETS) == stored


def test_a_schedule_of_a_set_that_is_missing_is_refused(scheduled: Path, tmp_path: Path) -> None:
    scheduled.write_text('format = "gen1ou"\n[[team_schedule]]\nfrom_iteration = 0\nsets = { yours = 1, own = 1 }\n')
    with pytest.raises(ConfigurationError, match=r"no team set 'yours' for gen1ou: expected one of own, hand-written"):
        begin_run(str(tmp_path / "store"), scheduled)
    assert not (tmp_path / "store").exists()
