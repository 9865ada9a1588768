"""Explanations of differences between the tracker and poke-env, on lines that random battles seldom have."""

import logging

import pytest
from poke_env.battle import Battle

from nashdex.bench.audits.tracker.difference import Difference
from nashdex.bench.audits.tracker.reasons.moves import gives_mimicked_move_own_pp


def of_wobbuffet(move: str, lines: list[str]) -> Difference:
    """Return a difference in the PP of ``move``, which p1's Wobbuffet has mimicked or not."""
    battle = Battle("battle-1", "somebody", logging.getLogger("referee"), gen=2)
    battle.player_role = "p1"
    return Difference(
        feature="own.pp",
        tracker=[move, 5],
        poke_env=[move, 24],
        state={"name": "Wobbuffet"},
        battle_state={"generation": 2},
        pokemon=None,
        battle=battle,
        request={},
        lines=["|switch|p1a: Wobbuffet|Wobbuffet, L95, M|554/554", *lines],
    )


@pytest.mark.parametrize(
    ("move", "mimicked", "explains"),
    [
        ("hiddenpowerdark", "Hidden Power", True),
        ("firepunch", "Fire Punch", True),
        ("mimic", "Fire Punch", True),
        ("counter", "Hidden Power", False),
        ("hiddenpowerdark", "Fire Punch", False),
    ],
)
def test_a_mimicked_hidden_power_is_known_without_its_type(move: str, mimicked: str, *, explains: bool) -> None:
    lines = [f"|-activate|p1a: Wobbuffet|move: Mimic|{mimicked}"]
    assert gives_mimicked_move_own_pp(of_wobbuffet(move, lines)) is explains
    assert not gives_mimicked_move_own_pp(of_wobbuffet(move, []))
