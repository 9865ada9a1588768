"""Runs with teams of their own, which the simulator checks before anything is written."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.registry import game_for, game_of_run
from nashdex.runs.creation import begin_run

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
