"""Numbers of choices in doubles against poke-env's and EliteFurretAI's tables."""

import json
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.doubles import elite_furret
from nashdex.games.showdown.doubles.slots import GIMMICKS, NUM_ROWS, num_slot_choices, slot_choice

DATA = Path(__file__).parents[2] / "data" / "vgc"
POKE_ENV = json.loads((DATA / "poke-env-107.json").read_text())
MDBO = json.loads((DATA / "mdbo-2025.json").read_text())
GIMMICKS_THERE = ("none", "mega", "zmove", "dynamax", "tera")
BROUGHT = (5, 2, 6, 1)


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


def test_every_joint_code_of_elite_furret_survives_a_round_trip() -> None:
    """All 2,025: to the wire and back, with the rows of the Pokémon that were brought."""
    actions = [elite_furret.action_of(code, BROUGHT) for code in range(elite_furret.NUM_JOINT_CODES)]
    assert len(set(actions)) == 2025
    assert [elite_furret.code_of(action, BROUGHT) for action in actions] == list(range(2025))
    assert elite_furret.codes_of(actions, BROUGHT) == dict(enumerate(actions))


def test_slot_codes_mean_what_elite_furrets_table_says() -> None:
    for entry in MDBO["slot"]:
        choice = slot_choice(elite_furret.action_of(45 * entry["code"] + 44, BROUGHT) // num_slot_choices(9))
        assert choice.kind == entry["kind"]
        if choice.kind == "move":
            assert (choice.move, choice.target, GIMMICKS[choice.gimmick] == "terastallize") == (
                entry["move"],
                entry["target"],
                entry["tera"],
            )
        if choice.kind == "switch":
            assert choice.row == BROUGHT[entry["code"] - 40]


def test_all_90_team_previews_survive_a_round_trip() -> None:
    assert list(elite_furret.TEAM_PREVIEWS) == MDBO["team_preview"]
    for number in range(90):
        leads, bench = elite_furret.preview_actions(number)
        assert elite_furret.preview_number(leads, bench) == number
        swapped = [107 * (action % 107) + action // 107 for action in (leads, bench)]
        assert elite_furret.preview_number(*swapped) == number, "neither leads nor bench are ordered"


def test_what_the_view_cannot_express_is_left_out() -> None:
    mega = next(n for n in range(num_slot_choices(9)) if slot_choice(n).gimmick == GIMMICKS.index("mega"))
    stranger = next(row for row in range(1, NUM_ROWS + 1) if row not in BROUGHT)
    assert elite_furret.codes_of([107 * mega, 107 * stranger, 0], BROUGHT) == {45 * 44 + 44: 0}
    with pytest.raises(ValueError, match="switches to place 4, and 3 Pokémon were brought"):
        elite_furret.action_of(43, BROUGHT[:3])
    with pytest.raises(ValueError, match="joint code 2025: expected 0 to 2024"):
        elite_furret.action_of(2025, BROUGHT)
    for name in ("gen9championsvgc2026regma", "gen8vgc2022"):
        with pytest.raises(ConfigurationError, match=f"cannot play {name}: they have terastallization"):
            elite_furret.check_format(name)
    elite_furret.check_format("gen9vgc2024regg")
