"""Team sets by name: the shipped ones, and those of a directory."""

import json
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.registry import game_for
from nashdex.games.showdown.game import pack_teams
from nashdex.games.showdown.teams import load_team_set, team_set_names
from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration

ILLEGAL = "Mewtwo\n- Psychic\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set called mine for gen2ou: two legal packed teams, and an illegal one."""
    folder = tmp_path / "mine" / "gen2ou"
    folder.mkdir(parents=True)
    first, second = game_for("gen2ou").teams()[:2]
    (folder / "a.gen2ou_team").write_text(first)
    (folder / "b.gen2ou_team").write_text(second)
    (folder / "c.gen2ou_team").write_text(ILLEGAL)
    (folder / "notes.txt").write_text("not a team")
    monkeypatch.setenv("NASHDEX_TEAM_SETS", str(tmp_path))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_directory_adds_sets_whose_illegal_teams_are_listed_and_left_out() -> None:
    assert team_set_names("gen2ou") == ("own", "mine")
    assert team_set_names("gen1ou") == ("own", "hand-written", "held-out")
    teams = load_team_set("gen2ou", "mine")
    # The validator completes a set, such as the gender that follows from its values.
    assert teams.text == pack_teams("gen2ou", "\n".join(game_for("gen2ou").teams()[:2]), "a list")
    [(place, problems)] = teams.illegal
    assert place == "c.gen2ou_team, team 1"
    assert any("Mewtwo" in problem for problem in problems)
    assert len(teams.sha256) == 64


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_command_lists_sets_and_a_battle_uses_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(("formats", "--teams", "gen2ou", "--json")) == 0
    sets = {each["name"]: each for each in json.loads(capsys.readouterr().out)["team_sets"]}
    assert sets["own"]["illegal"] == []
    assert (sets["mine"]["legal"], len(sets["mine"]["illegal"])) == (2, 1)
    policies = ("--p1", "random", "--p2", "random", "--battles", "1", "--json")
    assert run_command_line(("battle", "--format", "gen2ou", "--team-set", "mine", *policies)) == 0
    assert json.loads(capsys.readouterr().out)["rejected"] == 0


def test_a_set_that_is_missing_or_illegal_as_a_whole_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no team set 'yours' for gen2ou: expected one of own, mine"):
        load_team_set("gen2ou", "yours")
    for name in ("a", "b"):
        (folder / f"{name}.gen2ou_team").unlink()
    with pytest.raises(DataError, match=r"has no legal team for gen2ou: c.gen2ou_team, team 1: .*Mewtwo"):
        load_team_set("gen2ou", "mine")
    assert run_command_line(("formats", "--teams", "gen1randombattle")) == 64
