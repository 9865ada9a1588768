"""Numbers of choices in doubles against poke-env's table."""

import json
from pathlib import Path

from nashdex.games.showdown.doubles_slots import num_slot_choices, slot_choice

DATA = Path(__file__).parents[2] / "data" / "vgc"
POKE_ENV = json.loads((DATA / "poke-env-107.json").read_text())
GIMMICKS_THERE = ("none", "mega", "zmove", "dynamax", "tera")


def test_a_slots_choices_have_poke_envs_numbers() -> None:
    assert len(POKE_ENV["slot"]) == num_slot_choices(9)
    for entry in POKE_ENV["slot"]:
        choice = slot_choice(entry["code"])
        assert choice.number == entry["code"]
        assert choice.kind == entry["kind"]
        if choice.kind == "switch":
            assert choice.row == entry["team_row"]
        if choice.kind == "move":
            assert (choice.move, choice.target) == (entry["move"], entry["target"])
            assert GIMMICKS_THERE[choice.gimmick] == entry["gimmick"]
    assert [num_slot_choices(generation) for generation in (1, 5, 6, 7, 8, 9)] == [27, 27, 47, 67, 87, 107]
