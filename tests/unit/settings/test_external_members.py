"""Players of other programs among a run's initial policies: what is refused before the run begins."""

import pytest
from pydantic import ValidationError

from nashdex.core.errors import ConfigurationError
from nashdex.runs.fit import check_fit
from nashdex.settings.run import RunSettings


def settings(*initial: str, unplayed: str = "bradley-terry", **others: object) -> RunSettings:
    found = {"population": {"initial": initial}, "solve": {"unplayed": unplayed}, **others}
    return RunSettings.model_validate(found)


def test_a_declared_player_is_a_member_under_its_name() -> None:
    found = settings("random", "external:mine")
    check_fit(found)
    assert found.population.ids == ("random", "external:mine")


@pytest.mark.parametrize("name", ["external:my_bot:Player", "external:", "external:Mine", "external:mine@"])
def test_only_a_declared_name_is_a_member(name: str) -> None:
    with pytest.raises(ValidationError, match=r"a run names a player of another program as external:NAME"):
        settings("random", name)


def test_a_teacher_is_no_player_of_another_program() -> None:
    with pytest.raises(ValidationError, match="unknown scripted policy"):
        settings("random", collect={"teacher": "external:mine"})


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (settings("external:mine"), "players of other programs alone"),
        (settings("random", "external:mine", unplayed="block"), "expected 'bradley-terry' or 'interval'"),
        (settings("random", "external:mine", format="kuhn_poker"), "which does not play kuhn_poker"),
    ],
)
def test_what_does_not_fit_is_one_message(found: RunSettings, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check_fit(found)
