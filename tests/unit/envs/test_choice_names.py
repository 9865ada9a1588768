"""Names of legal actions, from the tracker's state and the request."""

from typing import Any

import numpy as np
import pytest

from nashdex_play.envs.text import choices_of
from support.battle_spaces import space_of

SPACE = space_of([("field", 1, {"turn": (1, None)})], tuple(f"action {number}" for number in range(10)), {})


def names(known: list[str], offered: dict[str, str]) -> list[str]:
    """Return the names of the moves of a Pokémon that knows ``known``, where ids and names are ``offered``."""
    pokemon = {"name": "Zapdos", "moves": [{"id": move} for move in known]}
    state = {"own": {"pokemon": [pokemon], "active": 0}, "team_preview": False}
    request: dict[str, Any] = {"active": [{"moves": [{"id": id_, "move": move} for id_, move in offered.items()]}]}
    return list(choices_of(SPACE, state, request, np.arange(6, 6 + len(offered))).values())


@pytest.mark.parametrize(
    ("known", "offered", "expected"),
    [
        (
            ["thunderwave", "thunderbolt", "thunder"],
            {"thunderwave": "Thunder Wave", "thunderbolt": "Thunderbolt", "thunder": "Thunder"},
            ["use Thunder Wave", "use Thunderbolt", "use Thunder"],
        ),
        (["hiddenpower"], {"hiddenpowerfire70": "Hidden Power Fire"}, ["use Hidden Power Fire"]),
        (["thunder", "roost"], {"recharge": "Recharge"}, ["use Recharge"]),
    ],
)
def test_a_move_has_its_own_name(known: list[str], offered: dict[str, str], expected: list[str]) -> None:
    assert names(known, offered) == expected
