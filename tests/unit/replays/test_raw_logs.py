"""Raw Showdown logs: which decisions they hold, what their players knew, and how they are stored with a run."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.games.showdown.wire_actions import WireActions
from nashdex.settings.oracles import ReplaySettings
from nashdex_replays.cutting import Choice, Decision, cut
from nashdex_replays.following import Follower
from nashdex_replays.packing import PackedReplays, pack, pseudonym, unpack, without_names
from nashdex_replays.reconstruction import views
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import is_wanted, parse
from nashdex_replays.requests import asked
from nashdex_replays.teams import teams

HUMAN = Path(__file__).parents[2] / "data" / "metamon" / "logs"
LEADS = ["|start", "|switch|p1a: Ann|Raichu, M|100/100", "|switch|p2a: Bob|Gengar, M|100/100", "|turn|1", "|"]


def decisions(lines: list[str], generation: int = 3) -> tuple[list[Decision], list[Decision]]:
    return cut([*LEADS, *lines], generation)


def choices(lines: list[str], generation: int = 3, seat: int = 0) -> list[Choice | None]:
    return [decision.choice for decision in decisions(lines, generation)[seat]]


def test_moves_and_switches_are_choices() -> None:
    lines = ["|switch|p2a: Cat|Snorlax|100/100", "|move|p1a: Ann|Thunderbolt|p2a: Cat", "|", "|upkeep", "|turn|2"]
    assert choices(lines) == [Choice("move", "thunderbolt"), None]
    assert choices(lines, seat=1) == [Choice("switch", "Cat"), None]


@pytest.mark.parametrize(
    "lines",
    [
        ["|cant|p1a: Ann|par"],
        ["|cant|p1a: Ann|flinch"],
        ["|move|p2a: Bob|Shadow Ball|p1a: Ann", "|-damage|p1a: Ann|0 fnt", "|faint|p1a: Ann"],
        ["|drag|p1a: Dan|Snorlax|100/100"],
        ["|-start|p1a: Ann|Encore", "|move|p1a: Ann|Growl|p2a: Bob"],
        ["|move|p1a: Ann|Tackle|p2a: Bob|[from] ability: Dancer"],
        ["|-singleturn|p1a: Ann|move: Instruct|[of] p2a: Bob", "|move|p1a: Ann|Growl|p2a: Bob", "|faint|p1a: Ann"],
    ],
)
def test_a_choice_that_the_log_does_not_show_is_unknown(lines: list[str]) -> None:
    assert choices([*lines, "|", "|upkeep"])[0] is None


@pytest.mark.parametrize(
    ("lines", "move"),
    [
        (["|cant|p1a: Ann|move: Taunt|Growl"], "growl"),
        (["|cant|p1a: Ann|slp", "|move|p1a: Ann|Sleep Talk|p1a: Ann"], "sleeptalk"),
        (["|cant|p1a: Ann|ability: Armor Tail|Surf|[of] p2a: Bob", "|move|p1a: Ann|Growl|p2a: Bob"], "growl"),
        (["|move|p1a: Ann|Outrage|p2a: Bob|[from]lockedmove"], "outrage"),
        (["|move|p1a: Ann|Growl|p2a: Bob|[from] item: Quick Claw"], "growl"),
        (["|move|p1a: Ann|Metronome|p1a: Ann", "|move|p1a: Ann|Surf|p2a: Bob|[from]Metronome"], "metronome"),
    ],
)
def test_a_choice_may_be_named_by_other_lines(lines: list[str], move: str) -> None:
    assert choices(lines)[0] == Choice("move", move)


def test_a_recharge_is_known_even_if_the_pokemon_faints_first() -> None:
    lines = ["|move|p1a: Ann|Hyper Beam|p2a: Bob", "|-mustrecharge|p1a: Ann", "|turn|2", "|", "|faint|p1a: Ann"]
    second = decisions(lines)[0][1]
    assert (second.choice, second.only) == (Choice("move", "recharge"), "recharge")


def test_sleep_and_wrap_of_the_first_generation_end_a_recharge() -> None:
    beam = ["|move|p1a: Ann|Hyper Beam|p2a: Bob", "|-mustrecharge|p1a: Ann"]
    slept = [*beam, "|-status|p1a: Ann|slp|[from] move: Sing", "|", "|upkeep", "|turn|2", "|", "|cant|p1a: Ann|slp"]
    assert [decisions(slept, generation)[0][1].only for generation in (1, 2)] == ["fight", "recharge"]
    bound = [*beam, "|move|p2a: Bob|Wrap|p1a: Ann|[miss]", "|", "|upkeep", "|turn|2", "|", "|faint|p1a: Ann"]
    assert [decisions(bound, generation)[0][1].only for generation in (1, 2)] == [None, "recharge"]


ASLEEP = ["|-status|p1a: Ann|slp|[from] move: Sing", "|cant|p1a: Ann|slp", "|", "|upkeep", "|turn|2", "|"]


@pytest.mark.parametrize(
    ("before", "turn", "move"),
    [
        (["|move|p1a: Ann|Fly|p2a: Bob|[still]", "|-prepare|p1a: Ann|Fly"], ["|faint|p1a: Ann"], "fly"),
        (["|move|p1a: Ann|Fly|p2a: Bob|[still]", "|-prepare|p1a: Ann|Fly"], ["|cant|p1a: Ann|par"], "fly"),
        (["|move|p1a: Ann|Growl|p2a: Bob", "|-start|p1a: Ann|Encore"], ["|cant|p1a: Ann|flinch"], "growl"),
    ],
)
def test_the_only_possible_move_is_known(before: list[str], turn: list[str], move: str) -> None:
    second = decisions([*before, "|", "|upkeep", "|turn|2", "|", *turn])[0][1]
    assert second.choice == Choice("move", move)


@pytest.mark.parametrize(
    "before",
    [
        ["|-prepare|p1a: Ann|Solar Beam", "|-anim|p1a: Ann|Solar Beam|p2a: Bob"],
        ["|-prepare|p1a: Ann|Fly", "|-enditem|p1a: Ann|Power Herb"],
        ["|-prepare|p1a: Ann|Fly", "|-activate|p1a: Ann|move: Gravity"],
        ["|-prepare|p1a: Ann|Chilly Reception|p1a: Ann", "|move|p1a: Ann|Chilly Reception|p1a: Ann"],
        ["|move|p1a: Ann|Growl|p2a: Bob", "|-start|p1a: Ann|Encore", "|-end|p1a: Ann|Encore"],
        ["|move|p1a: Ann|Surf|p2a: Bob|[from]Metronome", "|-start|p1a: Ann|Encore"],
    ],
)
def test_a_move_that_nothing_forces_any_more_is_unknown(before: list[str]) -> None:
    assert decisions([*before, "|", "|upkeep", "|turn|2", "|", "|faint|p1a: Ann"])[0][1].choice is None


def test_a_pokemon_of_the_first_generation_can_only_fight_or_switch_asleep() -> None:
    waking = [*ASLEEP, "|-curestatus|p1a: Ann|slp|[msg]", "|", "|upkeep", "|turn|3", "|", "|cant|p1a: Ann|par"]
    first, second, third = decisions(waking, 1)[0]
    assert (first.choice, third.choice) == (None, None)
    assert (second.choice, second.only) == (Choice("move", "fight"), "fight")
    leaving = decisions([*ASLEEP, "|switch|p1a: Dan|Snorlax|100/100"], 1)[0][1]
    assert (leaving.choice, leaving.only) == (Choice("switch", "Dan"), "fight")
    assert decisions([*ASLEEP, "|cant|p1a: Ann|slp"], 2)[0][1].choice is None
    arrived = ["|switch|p1a: Dan|Snorlax|80/100 frz", "|", "|upkeep", "|turn|2", "|", "|cant|p1a: Dan|frz"]
    assert decisions(arrived, 1)[0][1].only == "fight"
    numbered = decisions(["|choice|move 2|", "|move|p1a: Ann|Growl|p2a: Bob", *ASLEEP, "|choice|move 2|"], 1)[0][1]
    assert (numbered.choice, numbered.only) == (Choice("move", "growl"), None)


WRAPPED = ["|move|p1a: Ann|Wrap|p2a: Bob", "|", "|upkeep", "|turn|2", "|"]
GOES_ON = ["|move|p1a: Ann|Wrap|p2a: Bob|[from] Wrap", "|", "|upkeep", "|turn|3", "|"]


def test_wrap_of_the_first_generation_is_the_only_offer_in_its_second_turn_alone() -> None:
    """From the third turn on, the request offers all moves, and whatever is chosen, Wrap goes on."""
    first, second, third = decisions([*WRAPPED, *GOES_ON, GOES_ON[0]], 1)[0]
    assert (first.choice, first.only) == (Choice("move", "wrap"), None)
    assert (second.choice, second.only) == (Choice("move", "wrap"), "wrap")
    assert (third.choice, third.only) == (None, None)


def test_wrap_that_may_begin_again_against_another_pokemon_is_unknown() -> None:
    switched = ["|switch|p2a: Cat|Snorlax|100/100", "|move|p1a: Ann|Wrap|p2a: Cat"]
    assert decisions([*WRAPPED, *GOES_ON, *switched], 1)[0][2].choice is None
    assert decisions([*WRAPPED, *switched], 1)[0][1].choice == Choice("move", "wrap")
    assert decisions([*WRAPPED, *GOES_ON, switched[1]], 1)[0][2].choice == Choice("move", "wrap")


def test_the_user_of_wrap_may_switch() -> None:
    lines = [*LEADS, *WRAPPED, GOES_ON[0]]
    (_, second) = asked(lines, 0, cut(lines, 1)[0], teams(lines), 1, cast("WireActions", SimpleNamespace(moves=[6])))
    assert second.request["active"] == [{"moves": [{"id": "wrap"}], "trapped": False}]


def test_rage_of_the_first_generation_is_the_only_move_even_asleep() -> None:
    lines = ["|move|p1a: Ann|Rage|p2a: Bob", "|-status|p1a: Ann|slp|[from] move: Sing", "|", "|upkeep", "|turn|2", "|"]
    second = decisions([*lines, "|cant|p1a: Ann|slp"], 1)[0][1]
    assert (second.choice, second.only) == (Choice("move", "rage"), "rage")


def test_neither_player_sees_the_others_replacement() -> None:
    """Both Pokémon fainted: both states end before the first of the two switches."""
    lines = [
        *("|move|p1a: Ann|Explosion|p2a: Bob", "|faint|p2a: Bob", "|faint|p1a: Ann", "|"),
        *("|switch|p1a: Dan|Snorlax|100/100", "|-damage|p1a: Dan|88/100|[from] Spikes"),
        *("|switch|p2a: Cat|Snorlax|100/100", "|turn|2"),
    ]
    first, second = decisions(lines)
    assert (first[1].choice, second[1].choice) == (Choice("switch", "Dan"), Choice("switch", "Cat"))
    assert first[1].position == second[1].position == len(LEADS) + 3
    assert second[0].choice is None


def test_a_pivot_is_a_second_decision_of_the_turn() -> None:
    lines = ["|move|p1a: Ann|Volt Switch|p2a: Bob", "|", "|switch|p1a: Dan|Snorlax|100/100", "|turn|2"]
    assert choices(lines, 5)[:2] == [Choice("move", "voltswitch"), Choice("switch", "Dan")]
    ejected = ["|-enditem|p1a: Ann|Eject Button", "|", "|switch|p1a: Dan|Snorlax|100/100", "|turn|2"]
    assert choices(ejected, 5)[:2] == [None, Choice("switch", "Dan")]


def test_a_pursued_pokemon_still_switches_until_the_fourth_generation() -> None:
    lines = [
        *("|-activate|p1a: Ann|move: Pursuit", "|move|p2a: Bob|Pursuit|p1a: Ann|[from] Pursuit", "|faint|p1a: Ann"),
        *("|switch|p1a: Dan|Snorlax|100/100", "|turn|2"),
    ]
    assert choices(lines, 4)[:2] == [Choice("switch", "Dan"), None]
    assert choices(lines, 5)[:2] == [None, Choice("switch", "Dan")]
    assert choices(lines, 4, seat=1)[0] == Choice("move", "pursuit")
    assert choices(lines[1:], 4)[:2] == [Choice("switch", "Dan"), None]


def test_old_logs_number_the_moves() -> None:
    lines = [
        *("|choice|move 2|move 1", "|move|p1a: Ann|Growl|p2a: Bob", "|turn|2"),
        *("|choice|move 2|", "|cant|p1a: Ann|par", "|turn|3", "|choice|move 4|", "|cant|p1a: Ann|par"),
    ]
    assert choices(["|", *lines])[:3] == [Choice("move", "growl"), Choice("move", "growl"), None]


def test_whoever_eats_anothers_berry_does_not_hold_it() -> None:
    eaten = "|-enditem|p2a: Bob|Sitrus Berry|[from] stealeat|[move] Bug Bite|[of] p1a: Ann"
    own, other = teams([*LEADS, eaten, "|-heal|p1a: Ann|100/100|[from] item: Sitrus Berry"])
    assert (own[0].item, other[0].item) == (None, "sitrusberry")


def test_a_team_is_what_the_whole_log_shows_of_it() -> None:
    own, other = teams(
        [
            *LEADS,
            "|move|p1a: Ann|Thunderbolt|p2a: Bob",
            "|cant|p1a: Ann|ability: Dazzling|Fake Out|[of] p2a: Bob",
            "|-ability|p2a: Bob|Levitate",
            "|-enditem|p1a: Ann|Sitrus Berry|[eat]",
            "|-item|p1a: Ann|Leftovers|[from] move: Trick",
            "|-damage|p1a: Ann|80/100|[from] item: Rocky Helmet|[of] p2a: Bob",
            "|move|p2a: Bob|Mimic|p1a: Ann",
            "|-activate|p2a: Bob|move: Mimic|Thunderbolt",
            "|move|p2a: Bob|Thunderbolt|p1a: Ann",
        ]
    )
    assert [(member.name, member.moves, member.item) for member in own] == [("Ann", ["thunderbolt"], "sitrusberry")]
    assert [(m.moves, m.item, m.ability) for m in other] == [(["mimic"], "rockyhelmet", "levitate")]


@pytest.mark.parametrize(
    "lines",
    [
        ["|move|p1a: Ann|Outrage|p2a: Bob|[from]Metronome", "|move|p1a: Ann|Outrage|p2a: Bob|[from] lockedmove"],
        ["|move|p1a: Ann|Clamp|p2a: Bob|[from]Metronome", "|move|p1a: Ann|Clamp|p2a: Bob|[from] Clamp"],
        [
            *("|move|p1a: Ann|Fly||[from] Metronome|[still]", "|-prepare|p1a: Ann|Fly"),
            "|move|p1a: Ann|Fly|p2a: Bob",
        ],
    ],
)
def test_a_called_move_that_goes_on_is_no_own_move(lines: list[str]) -> None:
    own, _ = teams([*LEADS, "|move|p1a: Ann|Metronome|p1a: Ann", *lines])
    assert own[0].moves == ["metronome"]
    chosen, _ = teams([*LEADS, *lines, lines[-1].partition("|[from]")[0]])
    assert chosen[0].moves == [lines[0].split("|")[3].lower()]


def test_a_z_move_is_no_own_move() -> None:
    """One that does no damage shows the move that it is made from."""
    own, _ = teams(
        [
            *LEADS,
            *("|-zpower|p1a: Ann", "|move|p1a: Ann|Gigavolt Havoc|p2a: Bob|[zeffect]"),
            *("|-zpower|p1a: Ann", "|move|p1a: Ann|Z-Growth|p1a: Ann|[anim]Growth"),
        ]
    )
    assert (own[0].moves, own[0].gimmicks) == (["growth"], {"zmove"})


def test_replays_are_packed_without_names_and_read_again() -> None:
    objects = pack(ReplaySettings(path=HUMAN), "gen1ou")
    document = PackedReplays.from_json(objects[keys.REPLAYS], "replays.json")
    assert (document.replays, document.left_out, document.refused) == (3, 0, {})
    (part,) = document.parts
    replays = list(unpack(objects[part.key], part.key))
    for replay, path in zip(replays, sorted(HUMAN.iterdir()), strict=True):
        original = parse(path.read_bytes(), path.name)
        assert (replay.battle, replay.ratings, replay.winner) == (original.battle, original.ratings, original.winner)
        assert len(replay.lines) == len(original.lines)
        assert not any(name in line for line in replay.lines for name in original.players)
    with pytest.raises(DataError):
        list(unpack(objects[part.key][:-9], part.key))


def with_lines(*lines: str, first: str = "ann", winner: str = "ann") -> bytes:
    """Return a battle of people who are called ``first`` and bob, with ``lines`` before its end."""
    given = json.loads((HUMAN / "gen1ou-2333334844.json").read_text())
    begun, _, _ = given["log"].partition("|win|")
    for side, name in (("p1", first), ("p2", "bob")):
        (old,) = (line.split("|")[3] for line in begun.split("\n") if line.startswith(f"|player|{side}|"))
        begun = begun.replace(old, name)
    return json.dumps(given | {"log": "\n".join([begun, *lines, f"|win|{winner}"])}).encode()


def test_generated_teams_need_no_clause_that_names_are_unique() -> None:
    """Their generator takes each species once, and logs of generations 4 to 7 do not say so."""
    given = json.loads(with_lines())
    log = given["log"].replace("Species Clause", "No Clause")
    with pytest.raises(RefusedReplayError, match="has no Species Clause"):
        parse(json.dumps(given | {"log": log}).encode(), "a file")
    named = {"id": "gen1randombattle-1", "format": "[Gen 1] Random Battle", "formatid": "gen1randombattle"}
    log = log.replace("[Gen 1] OU", "[Gen 1] Random Battle")
    assert parse(json.dumps(given | named | {"log": log}).encode(), "a file").format == "gen1randombattle"


def test_a_player_who_is_renamed_in_the_battle_can_win_it() -> None:
    replay = parse(with_lines("|player|p1|Cat|7", winner="Cat"), "a file")
    assert (replay.players, replay.winner) == (("ann", "bob"), 0)
    assert parse(with_lines("|player|p1|", winner="bob"), "a file").winner == 1
    with pytest.raises(RefusedReplayError, match="who did not play"):
        parse(with_lines(winner="Cat"), "a file")


def test_packed_replays_have_none_of_the_names_and_end_as_they_ended() -> None:
    """A name may be within a word, or within another name, and texts may have columns."""
    lines = ("|player|p2|Cat|7", "|message|Cat is bob|or e", "|-message|e forfeited.")
    replay = parse(with_lines(*lines, first="e", winner="Cat"), "a file")
    text = json.dumps(without_names(replay))
    packed = parse(text.encode(), "the same")
    assert (packed.winner, packed.end) == (replay.winner, replay.end) == (1, "forfeit")
    assert not any(f"|{name}" in text or f"{name} " in text for name in ("Cat", "bob"))
    assert packed.lines[-2:] == (f"|-message|{pseudonym('e')} forfeited.", f"|win|{pseudonym('Cat')}")
    assert packed.lines[-3] == f"|message|{pseudonym('Cat')} is {pseudonym('bob')}|or {pseudonym('e')}"


def test_half_an_emoji_is_a_question_mark() -> None:
    """A nickname is cut off between the two halves of a surrogate pair. No message to a gateway can hold one."""
    content = with_lines().replace(b": Exeggutor", rb": Egg\ud83e")
    assert b"\\ud83e" in content
    assert any("p2a: Egg?|" in line for line in parse(content, "a file").lines)


@pytest.mark.parametrize("side", ["p1", "p2"])
def test_a_log_without_a_first_pokemon_is_refused(side: str) -> None:
    replay = parse((HUMAN / "gen1ou-2333334844.json").read_bytes(), "a file")
    first = next(line for line in replay.lines if line.startswith(f"|switch|{side}a"))
    cut_off = replace(replay, lines=tuple(line for line in replay.lines if line != first))
    pairs, refused = views([cut_off], cast("Follower", SimpleNamespace(follow=lambda _: None, wire=None)))
    assert pairs == []
    assert refused == {"inconsistent": 1}


def test_only_wanted_players_count() -> None:
    replay = parse((HUMAN / "gen1ou-2333334844.json").read_bytes(), "a file")
    assert replay.ratings == (1225, 1424)
    assert [is_wanted(replay, seat, min_rating=1300, winners_only=False) for seat in (0, 1)] == [False, True]
    assert [is_wanted(replay, seat, min_rating=0, winners_only=True) for seat in (0, 1)] == [True, False]
    with pytest.raises(DataError, match="no replay of gen1ou"):
        pack(ReplaySettings(path=HUMAN, min_rating=1500), "gen1ou")


def test_an_omniscient_log_shows_both_players_the_public_lines(tmp_path: Path) -> None:
    given = json.loads((HUMAN / "gen1ou-2333334844.json").read_text())
    damage = "|-damage|p2a: Exeggutor|88/100"
    given["log"] = given["log"].replace(damage, f"|split|p2\n|-damage|p2a: Exeggutor|345/392\n{damage}")
    (tmp_path / "a.json").write_text(json.dumps(given))
    split = parse((tmp_path / "a.json").read_bytes(), "a file")
    assert split.lines == parse((HUMAN / "gen1ou-2333334844.json").read_bytes(), "a file").lines
