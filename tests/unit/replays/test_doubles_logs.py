"""Raw logs of double battles: which joint decisions they hold, and what of each is known."""

import json
from typing import cast

import numpy as np
import pytest

from nashdex.games.showdown.doubles_slots import SlotChoice as Numbered
from nashdex.games.showdown.doubles_slots import joined
from nashdex_replays.doubles.cutting import JointDecision, SlotChoice, cut
from nashdex_replays.doubles.reconstruction import UNKNOWN_SLOT, JointView
from nashdex_replays.doubles.requests import AskedSlots, asked
from nashdex_replays.packing import without_names
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, parse
from nashdex_replays.sheets import Sheet, fill, open_teams
from nashdex_replays.teams import teams

HEAD = [
    *("|gametype|doubles", "|player|p1|ann|1|", "|player|p2|bob|1|", "|gen|9", "|tier|[Gen 9] VGC 2024 Reg G"),
    "|rule|Species Clause: Limit one of each Pokémon",
]
TEAM = {"p1": ("Raichu", "Gengar", "Snorlax", "Milotic"), "p2": ("Garchomp", "Tyranitar", "Amoonguss", "Gholdengo")}
START = [
    *(f"|poke|{side}|{species}, L50|" for side, team in TEAM.items() for species in team),
    *("|teampreview|4", "|", "|start"),
    *("|switch|p1a: Rai|Raichu, L50|100/100", "|switch|p1b: Gen|Gengar, L50|100/100"),
    *("|switch|p2a: Gar|Garchomp, L50|100/100", "|switch|p2b: Tyr|Tyranitar, L50|100/100", "|turn|1", "|"),
]
END = ["|", "|upkeep"]


def decisions(lines: list[str], seat: int = 0) -> list[JointDecision]:
    return cut([*START, *lines], 9)[seat]


def choices(lines: list[str], seat: int = 0) -> list[tuple[str, str]]:
    """Return the choices of the first turn: text, or the cause in brackets."""
    slots = decisions([*lines, *END], seat)[2].slots
    return [(slot.text, slot.cause) for slot in slots]


def test_both_slots_are_named_with_targets_and_gimmicks() -> None:
    lines = [
        *("|switch|p2b: Amo|Amoonguss, L50|100/100", "|-terastallize|p1b: Gen|Ghost"),
        *("|move|p1b: Gen|Shadow Ball|p2a: Gar", "|move|p1a: Rai|Protect|p1a: Rai"),
        "|move|p2a: Gar|Earthquake|p1a: Rai|[spread] p1b",
    ]
    assert choices(lines) == [("move protect", ""), ("move shadowball +1 terastallize", "")]
    assert choices(lines, seat=1) == [("move earthquake", ""), ("switch Amo", "")]


FAINTED = ["|move|p2a: Gar|Dragon Claw|p1a: Rai", "|faint|p1a: Rai"]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        (FAINTED, "fainted"),
        (["|cant|p1a: Rai|flinch"], "flinched"),
        (["|cant|p1a: Rai|slp"], "asleep"),
        (["|-activate|p1a: Rai|confusion", "|-damage|p1a: Rai|80/100|[from] confusion"], "confused"),
        (["|drag|p1a: Sno|Snorlax, L50|100/100"], "dragged"),
        (["|-enditem|p1a: Rai|Eject Button", "|", "|switch|p1a: Sno|Snorlax, L50|100/100"], "left"),
        (["|-start|p1a: Rai|Encore", "|move|p1a: Rai|Protect|p1a: Rai"], "encored"),
        (["|cant|p1a: Rai|move: Taunt|Toxic"], "target"),
        (["|faint|p2b: Tyr", "|move|p1a: Rai|Thunderbolt|p2a: Gar"], "target"),
        (["|-singleturn|p2a: Gar|move: Follow Me", "|move|p1a: Rai|Thunderbolt|p2a: Gar"], "target"),
        (
            ["|move|p1a: Rai|Thunderbolt|p2a: Gar", "|-activate|p2a: Gar|ability: Lightning Rod"],
            "target",
        ),
        (["|swap|p2a: Gar|1", "|move|p1a: Rai|Thunderbolt|p2a: Tyr"], "target"),
        (["|move|p1a: Rai|Tackle|p2a: Gar|[from] ability: Dancer"], "not-shown"),
        (["|-singleturn|p1a: Rai|move: Instruct|[of] p1b: Gen", "|move|p1a: Rai|Tackle|p2a: Gar"], "not-shown"),
    ],
)
def test_a_slot_whose_choice_does_not_show_is_unknown_and_the_other_is_known(lines: list[str], cause: str) -> None:
    first, second = choices(["|move|p1b: Gen|Protect|p1b: Gen", *lines])
    assert first == ("", cause)
    assert second == ("move protect", "")


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["|cant|p1a: Rai|slp", "|move|p1a: Rai|Sleep Talk|p1a: Rai"], "move sleeptalk"),
        (["|-singleturn|p2a: Gar|move: Follow Me", "|move|p1a: Rai|Thunderbolt|p2b: Tyr"], "move thunderbolt +2"),
        (["|move|p1a: Rai|Helping Hand|p1b: Gen"], "move helpinghand -2"),
        (
            ["|cant|p1a: Rai|ability: Armor Tail|Fake Out|[of] p2a: Gar", "|move|p1a: Rai|Surf|p2a: Gar"],
            "move surf",
        ),
        (["|move|p1a: Rai|Thunderbolt|p1b: Gen"], "move thunderbolt -2"),
        (["|faint|p1b: Gen", "|move|p1a: Rai|Thunderbolt|p1: Gen|[notarget]"], "move thunderbolt -2"),
        (
            ["|move|p1a: Rai|Metronome|p1a: Rai", "|move|p1a: Rai|Surf|p2a: Gar|[from] move: Metronome"],
            "move metronome",
        ),
    ],
)
def test_what_a_line_shows_is_known(lines: list[str], text: str) -> None:
    assert choices(lines)[0] == (text, "")


def test_replacements_at_the_end_of_a_turn_are_one_decision() -> None:
    lines = [
        *("|faint|p1a: Rai", "|faint|p1b: Gen", *END, "|"),
        *("|switch|p1b: Sno|Snorlax, L50|100/100", "|switch|p1a: Mil|Milotic, L50|100/100", "|turn|2", "|"),
        *("|move|p1a: Mil|Protect|p1a: Mil", *END),
    ]
    found = decisions(lines)
    assert [each.asks for each in found] == ["leads", "bench", "move", "switch", "move"]
    assert [slot.text for slot in found[3].slots] == ["switch Mil", "switch Sno"]
    assert [slot.text for slot in found[0].slots] == ["switch Rai", "switch Gen"]
    assert {slot.text for slot in found[1].slots} == {"switch Mil", "switch Sno"}


def test_the_last_pokemon_replaces_one_of_two() -> None:
    lines = ["|faint|p1a: Rai", "|faint|p1b: Gen", *END, "|", "|switch|p1b: Sno|Snorlax, L50|100/100", "|turn|2", "|"]
    replacement, turn = decisions([*lines, "|move|p1b: Sno|Protect|p1b: Sno", *END])[3:]
    assert [(slot.text, slot.asked) for slot in replacement.slots] == [("pass", True), ("switch Sno", True)]
    assert [(slot.text, slot.asked) for slot in turn.slots] == [("pass", False), ("move protect", True)]


def test_a_revived_pokemon_on_the_bench_replaces_another_later() -> None:
    """One that is revived in its slot comes in at once, and nobody chose that."""
    fell = ["|switch|p1a: Sno|Snorlax, L50|100/100", "|faint|p1a: Sno", *END]
    came = ["|", "|switch|p1a: Rai|Raichu, L50|99/100"]
    revival = ["|turn|2", "|", "|move|p1b: Gen|Revival Blessing|p1b: Gen", "|"]
    revived = [*revival, "|-heal|p1: Sno|50/100|[from] move: Revival Blessing"]
    replaced = [*fell, *came, *revived, "|faint|p1a: Rai", *END, "|", "|switch|p1a: Sno|Snorlax, L50|50/100"]
    assert [each.asks for each in decisions(replaced)[2:]] == ["move", "switch", "move", "revival", "switch"]
    returned = [*fell, *revived, "|switch|p1a: Sno|Snorlax, L50|50/100", *END]
    assert [each.asks for each in decisions(returned)[2:]] == ["move", "move", "revival"]


def test_a_pursued_pokemon_still_switches_until_the_fourth_generation() -> None:
    lines = ["|move|p2a: Gar|Pursuit|p1a: Rai|[from] Pursuit", "|faint|p1a: Rai", "|switch|p1a: Sno|Snorlax|100/100"]
    (first,) = cut([*START, *lines, *END], 4)[0][2:]
    assert first.slots[0].text == "switch Sno"
    turn, replacement = cut([*START, *lines, *END], 5)[0][2:]
    assert (turn.slots[0].cause, replacement.asks) == ("fainted", "switch")


def test_gravity_ends_a_charged_attack() -> None:
    charged = ["|move|p1a: Rai|Fly|p2a: Gar|[still]", "|-prepare|p1a: Rai|Fly", "|-activate|p1a: Rai|move: Gravity"]
    turn = decisions([*charged, *END, "|turn|2", "|", "|switch|p1a: Sno|Snorlax, L50|100/100", *END])[3]
    assert (turn.slots[0].text, turn.slots[0].only) == ("switch Sno", None)


def test_chilly_reception_is_used_in_the_turn_that_announces_it() -> None:
    lines = ["|-prepare|p1a: Rai|Chilly Reception|p1a: Rai", "|cant|p1a: Rai|flinch", *END, "|turn|2", "|"]
    turn = decisions([*lines, "|move|p1a: Rai|Protect|p1a: Rai", *END])[3]
    assert (turn.slots[0].text, turn.slots[0].only) == ("move protect", None)


def test_ally_switch_keeps_who_is_transformed() -> None:
    lines = [
        *("|-transform|p1a: Rai|p2a: Gar", "|move|p1b: Gen|Ally Switch|p1b: Gen", "|swap|p1b: Gen|0"),
        *("|move|p1b: Rai|Dragon Claw|p2a: Gar", "|move|p1a: Gen|Shadow Ball|p2a: Gar"),
    ]
    raichu, gengar = teams([*START, *lines])[0][:2]
    assert (raichu.moves, gengar.moves) == ([], ["allyswitch", "shadowball"])


def test_a_pivot_asks_its_slot_alone() -> None:
    lines = ["|move|p1a: Rai|Volt Switch|p2a: Gar", "|", "|switch|p1a: Sno|Snorlax, L50|100/100|[from] Volt Switch"]
    found = decisions([*lines, "|move|p1b: Gen|Protect|p1b: Gen", *END])
    assert [(slot.text, slot.asked) for slot in found[3].slots] == [("switch Sno", True), ("pass", False)]
    assert found[2].slots[1].text == "move protect"


def test_a_turn_in_which_nobody_chose_is_no_decision() -> None:
    assert len(decisions([*END, "|turn|2", "|-message|bob forfeited.", "|", "|win|ann"])) == 3


def follow(lines: list[str], inputs: list[str] | None) -> list[AskedSlots]:
    """Return the decisions of the first player."""
    all_lines = [*START, *lines]
    return list(asked(all_lines, 0, cut(all_lines, 9)[0], teams(all_lines), 9, inputs))


TURN = [*FAINTED, "|move|p1b: Gen|Shadow Ball|p2a: Gar", *END]


def test_the_players_input_names_what_the_lines_do_not() -> None:
    leads, bench, turn = follow(TURN, ["team 1, 2, 4, 3", "move thunderbolt +2, move shadowball 1"])
    assert [slot.name for slot in (*leads.choices, *bench.choices)] == ["Rai", "Gen", "Milotic", "Snorlax"]
    assert [slot.text for slot in turn.choices] == ["move thunderbolt +2", "move shadowball +1"]
    assert turn.options == (frozenset({7 + 4}), frozenset({7 + 3}))


@pytest.mark.parametrize(
    "inputs",
    [
        ["team 2, 1, 4, 3", "move thunderbolt +2, move shadowball +1"],
        ["team 1, 2, 4, 3", "move thunderbolt +2, move shadowball +2"],
        ["team 1, 2, 4, 3", "move thunderbolt +2, switch 3"],
        ["team 1, 2, 4, 3", "move thunderbolt +2, move protect"],
        ["team 1, 2, 4, 3", "move thunderbolt +2"],
        ["team 1, 2, 4, 3"],
        ["move thunderbolt +2, move shadowball +1"],
    ],
)
def test_input_of_another_battle_is_refused(inputs: list[str]) -> None:
    with pytest.raises(RefusedReplayError) as refusal:
        follow(TURN, inputs)
    assert refusal.value.cause == "input-log"


def test_of_an_unknown_choice_the_known_part_counts() -> None:
    """Without its own line, a slot can have used any move without a gimmick, but it did not switch."""
    (fainted, _) = follow(TURN, None)[2].options
    assert fainted is not None
    assert min(fainted) == 7
    assert 7 + 20 not in fainted


def test_an_attack_after_a_faint_was_for_either_opponent() -> None:
    (first, _) = follow(["|faint|p2b: Tyr", "|move|p1a: Rai|Thunderbolt|p2a: Gar"], None)[2].options
    assert first == {7 + 3, 7 + 4}


def test_expanding_force_may_hit_both_whatever_was_its_target() -> None:
    assert choices(["|move|p1a: Rai|Expanding Force|p2a: Gar"])[0] == ("", "target")


def test_a_slot_that_used_a_move_without_trace_leaves_the_other_known() -> None:
    z_move, switch = Numbered("move", move=1, gimmick=2), Numbered("switch", row=1)
    shown = (SlotChoice(cause="renamed", gimmick="zmove"), SlotChoice(kind="switch", name="Sno"))
    row = AskedSlots("move", 1, (), {}, shown, (frozenset({z_move.number}), frozenset({switch.number})))
    view = JointView(cast("RawReplay", None), 0, [row], has_inputs=False)
    move = Numbered("move", move=1).number
    legal = [joined(move, second, 107) for second in (switch.number, move)]
    view.keep(np.zeros(1, np.float32), np.array(legal, np.uint16), 107)
    assert (view.slots, view.causes) == ([(UNKNOWN_SLOT, switch.number)], [("renamed", "")])
    assert view.agreeing[0].tolist() == legal[:1]


def test_the_only_move_is_known_without_a_line() -> None:
    """Encore forced Protect in the second turn, in which Raichu flinched."""
    encored = [
        "|move|p1a: Rai|Protect|p1a: Rai",
        "|-start|p1a: Rai|Encore",
        *END,
        "|turn|2",
        "|",
        "|cant|p1a: Rai|flinch",
    ]
    (raichu, _) = follow([*encored, *END], None)[3].choices
    assert (raichu.text, raichu.cause) == ("move protect", "")


SHEETS = "Rai|Raichu|LifeOrb|Static|Thunderbolt,Protect,FakeOut,Surf||||||50|,,,,,Electric]|Gengar"


def test_open_sheets_are_what_both_know() -> None:
    (first, second) = open_teams([f"|showteam|p1|{SHEETS}"])[0]
    assert (first.species, first.item, first.tera, first.moves[2]) == ("Raichu", "LifeOrb", "Electric", "fakeout")
    assert second.species == "Gengar"


def test_both_see_the_sheets_before_they_choose_who_leads() -> None:
    at = START.index("|teampreview|4") + 1
    found = cut([*START[:at], f"|showteam|p1|{SHEETS}", f"|showteam|p2|{SHEETS}", *START[at:], *END], 9)[0]
    assert [decision.position for decision in found[:2]] == [at + 2, at + 2]
    assert found[2].position > at + 2


def test_sheets_of_another_team_are_refused() -> None:
    members = teams([*START])[0]
    sheets = [Sheet(species) for species in TEAM["p1"]]
    fill(members, sheets, 9, 100, "a log")
    with pytest.raises(RefusedReplayError) as refusal:
        fill(members, [Sheet(species) for species in TEAM["p2"]], 9, 100, "a log")
    assert refusal.value.cause == "sheet"


def test_a_server_file_keeps_its_input_and_teams_when_packed() -> None:
    log = [*HEAD, *START, *TURN, "|turn|2", *END, "|win|ann"]
    team = [{"species": species, "moves": ["Protect"], "evs": {"hp": 252}} for species in TEAM["p1"]]
    given = {
        "id": "battle-gen9vgc2024regg-1",
        "format": "gen9vgc2024regg",
        "log": log,
        "p1team": team,
        "p1rating": 1500,
    }
    given["inputLog"] = [">start {}", ">p1 team 1, 2, 3, 4", ">p2 team 1, 2, 3, 4"]
    given["p2rating"] = {"rpr": 1625.04, "rprd": 25}
    replay = parse(json.dumps(given).encode(), "a log")
    assert (replay.num_active, replay.ratings[0], replay.inputs) == (2, 1500, (("team 1, 2, 3, 4",),) * 2)
    assert (replay.rating_band(0), replay.rating_band(1)) == ("1400-1599", "glicko-1600-1799")
    packed = parse(json.dumps(without_names(replay)).encode(), "the same")
    assert packed.rating_band(1) == "glicko-1600-1799"
    assert (packed.inputs, packed.sheets, packed.ratings) == (replay.inputs, replay.sheets, replay.ratings)


@pytest.mark.parametrize(
    "change",
    [{"inputLog": "text"}, {"p1team": [1]}, {"p1team": [{"species": "Mew", "moves": ["a"] * 5}]}, {"p1team": [{}] * 7}],
)
def test_what_is_beside_a_log_is_checked(change: dict[str, object]) -> None:
    log = [*HEAD, *START, *TURN, "|turn|2", "|win|ann"]
    given = {"id": "gen9vgc2024regg-1", "format": "gen9vgc2024regg", "log": log, **change}
    with pytest.raises(RefusedReplayError):
        parse(json.dumps(given).encode(), "a log")
