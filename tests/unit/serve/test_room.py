"""A battle's room, line by line, as a server sends it."""

import json

import pytest

from nashdex.serve.lines import read_message, to_id
from nashdex.serve.room import Room


def _room(*lines: str) -> Room:
    room = Room("battle-gen1ou-1", "Alpha One", 0)
    for line in ("|init|battle", "|player|p1|Beta|1|", "|player|p2|alphaone|2|", *lines):
        room.read(line)
    return room


def _request(rqid: int, **more: object) -> str:
    return f"|request|{json.dumps({'rqid': rqid, 'active': [], **more})}"


def test_messages_have_a_room_and_lines() -> None:
    assert read_message(">battle-gen1ou-1\n|turn|1\n|") == ("battle-gen1ou-1", ("|turn|1", "|"))
    assert read_message("|challstr|4|abc") == ("", ("|challstr|4|abc",))
    assert to_id("Alpha One!") == "alphaone"


def test_the_seat_is_that_of_the_own_name_however_it_is_written() -> None:
    room = _room()
    assert (room.seat, room.opponent) == (1, "Beta")


@pytest.mark.parametrize(
    ("line", "leaves"),
    [("|l|☆Beta", True), ("|leave| beta", True), ("|l|Alpha One", False), ("|l|Gamma", False), ("|c|Beta|l", False)],
)
def test_the_opponent_leaves(line: str, *, leaves: bool) -> None:
    room = _room(line)
    assert room.is_opponent_away is leaves
    room.read("|j|☆Beta")
    assert not room.is_opponent_away
    unnamed = Room("battle-gen1ou-1", "Alpha One", 0)
    unnamed.read(line)
    assert not unnamed.is_opponent_away


def test_a_request_is_answered_once() -> None:
    room = _room(_request(3))
    assert room.wants_decision
    room.answer("move 1")
    room.read(_request(3))
    assert not room.wants_decision
    room.read(_request(5))
    assert room.wants_decision


def test_a_request_to_wait_and_one_that_was_answered_before_a_reconnection_ask_nothing() -> None:
    assert not _room(_request(3, wait=True)).wants_decision
    assert not _room(_request(3), "|sentchoice|move 1").wants_decision


def test_a_choice_that_the_server_did_not_get_is_one_decision_and_the_battle_has_no_trajectory() -> None:
    room = _room(_request(3))
    assert room.answer("move 1") == "/choose move 1|3"
    for line in ("|init|battle", "|player|p1|Beta|1|", "|player|p2|alphaone|2|", _request(3)):
        room.read(line)
    assert room.wants_decision
    room.answer("move 1")
    room.read(_request(5))
    room.answer("move 1")
    assert (room.num_decisions, room.is_whole) == (2, False)


def test_an_opponent_that_is_not_in_the_room() -> None:
    assert not _room("|player|p2|").is_opponent_away
    room = _room("|player|p1|")
    assert room.is_opponent_away
    room.read("|player|p1|Beta|1|")
    assert not room.is_opponent_away


def test_a_room_in_which_others_play_is_foreign() -> None:
    room = _room()
    assert not room.is_foreign
    for line in ("|init|battle", "|player|p1|Beta|1|", "|player|p2|Gamma|2|"):
        room.read(line)
    assert room.is_foreign


def test_an_unavailable_choice_asks_again_with_the_corrected_request() -> None:
    room = _room(_request(3))
    room.answer("move 1")
    room.read("|error|[Unavailable choice] Can't switch: The active Pokémon is trapped")
    assert not room.wants_decision
    room.read(_request(4))
    assert room.wants_decision
    assert (room.asked_again, room.num_refused) == (True, 1)
    room.answer("move 1")
    assert room.num_decisions == 1


def test_an_invalid_choice_asks_for_the_servers_default() -> None:
    room = _room(_request(3))
    room.answer("move 1")
    room.read("|error|[Invalid choice] Can't move: no such move")
    assert room.wants_decision
    assert room.takes_default


@pytest.mark.parametrize(
    "text",
    ["Sorry, too late to make a different move; the next turn has already started", "There's nothing to choose"],
)
def test_a_choice_that_was_taken_before_the_connection_broke_asks_nothing_again(text: str) -> None:
    """The server took the first of two equal choices; its answer to the second may follow the next request."""
    room = _room(_request(3))
    room.answer("move 1")
    room.read(f"|error|[Invalid choice] {text}")
    assert not room.wants_decision
    room.read(_request(5))
    room.read(f"|error|[Invalid choice] {text}")
    assert room.request is not None
    assert room.request["rqid"] == 5
    assert (room.takes_default, room.num_refused) == (False, 0)


def test_refusals_are_counted_until_the_next_request() -> None:
    room = _room(_request(3))
    for count in (1, 2, 3):
        room.answer("move 1")
        room.read("|error|[Invalid choice] Can't move: no such move")
        assert room.num_refused_in_row == count
    room.answer("move 1")
    room.read(_request(5))
    assert room.num_refused_in_row == 0


def test_the_tracker_reads_neutral_names_and_only_the_battle() -> None:
    room = _room("|j|☆Beta", "|c|☆Beta|hello", "|switch|p1a: Tauros|Tauros|100/100", "|win|alphaone")
    assert list(room.new_lines()) == [
        "|player|p1|Player 1|1|",
        "|player|p2|Player 2|2|",
        "|switch|p1a: Tauros|Tauros|100/100",
        "|win|Player 2",
    ]
    assert list(room.new_lines()) == []
    assert room.result == "win"


def test_joining_again_begins_with_the_whole_log() -> None:
    room = _room("|turn|1")
    list(room.new_lines())
    for line in ("|init|battle", "|player|p1|Beta|1|", "|turn|1"):
        room.read(line)
    assert list(room.new_lines()) == ["|player|p1|Player 1|1|", "|turn|1"]


def test_results_ratings_and_a_closed_room() -> None:
    raw = "|raw|Alpha One's rating: 1000 &rarr; <strong>1040</strong><br />(+40 for winning)"
    other = "|raw|Beta's rating: 1200 &rarr; <strong>1180</strong><br />(-20 for losing)"
    room = _room("|win|Alpha One", raw, other)
    assert (room.result, room.rating) == ("win", 1040)
    assert _room("|win|Beta").result == "loss"
    assert _room("|tie").result == "tie"
    assert _room("|deinit").is_gone
