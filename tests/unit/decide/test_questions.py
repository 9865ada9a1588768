"""Questions as JSON, and what their logs say: nothing here needs a gateway."""

import json
from typing import Any

import pytest

from nashdex_play.decide.answering import read_question
from nashdex_play.decide.documents import MOST_LINES, RefusedError, parse_question
from support.spaces import tiny_space

SPACE = tiny_space().model_copy(update={"format": "gen1tiny"})
POKEMON = {
    "ident": "p1: Mew",
    "details": "Mew, L68",
    "condition": "230/230",
    "active": True,
    "stats": {"atk": 1},
    "moves": ["psychic"],
}
REQUEST = {
    "active": [{"moves": [{"move": "Psychic", "id": "psychic"}]}],
    "side": {"name": "Ann", "id": "p1", "pokemon": [POKEMON]},
    "rqid": 3,
}
LOG = ["|j|☆Ann", "|player|p1|Ann|1|", "|player|p2|Bob|2|", "|c|Bob|hello", "|start", "|turn|1", "|move|p1a: Mew|Bob"]


def _question(**changes: object) -> bytes:
    question = {"log": LOG, "seat": "p1", "request": REQUEST, **changes}
    return json.dumps({key: value for key, value in question.items() if value is not ...}).encode()


def test_a_log_is_text_or_lines_and_its_players_lose_their_names() -> None:
    by_lines = read_question(parse_question(_question()), SPACE)
    by_text = read_question(parse_question(_question(log="\r\n".join(LOG))), SPACE)
    assert by_lines == by_text
    assert by_lines.lines == ("|player|p1|Player 1|1|", "|player|p2|Player 2|2|", "|start", "|turn|1", LOG[-1])
    assert by_lines.request["side"]["name"] == "Player 1"
    assert (by_lines.seat, by_lines.turn) == (0, 1)


def test_the_request_in_the_log_is_used_where_the_question_has_none() -> None:
    log = [*LOG, f"|request|{json.dumps(REQUEST)}"]
    assert read_question(parse_question(_question(log=log, request=...)), SPACE).request["rqid"] == 3


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"seat": "p3"}, "seat", "'p1' or 'p2'"),
        ({"seat": ...}, "seat", "missing"),
        ({"log": 5}, "log", "expected text, or a list of lines"),
        ({"log": ["x"] * (MOST_LINES + 1)}, "log", "at most"),
        ({"log": "x" * 70_000}, "log", "characters"),
        ({"log": []}, "log", "no player of p1"),
        ({"log": [*LOG, "|win|Ann"]}, "log", "over"),
        ({"log": ["|gen|9", *LOG]}, "log", "gen is '9' in log; expected a battle of gen1tiny"),
        ({"log": ["|gametype|doubles", *LOG]}, "log", "gametype is 'doubles'"),
        ({"log": ["|tier|[Gen 1] OU", *LOG]}, "log", r"tier is '\[Gen 1\] OU' in log; expected a battle of gen1tiny"),
        ({"log": [*LOG, "|turn|many"]}, "log", "whole number"),
        ({"log": [*LOG, "|request|[1]"]}, "log", "JSON object"),
        ({"request": ...}, "request", "nothing to choose"),
        ({"request": {"wait": True}}, "request", "nothing to choose"),
        ({"request": {}}, "request", "side: missing"),
        ({"request": {**REQUEST, "active": [{"moves": [{"id": "psychic"}]}]}}, "request", "move: missing"),
        ({"request": {**REQUEST, "rqid": -1}}, "request", "rqid"),
        ({"seat": "p2"}, "request", "request is of p1"),
        ({"team": "x"}, "team", "no such key"),
    ],
)
def test_a_wrong_question_names_its_field(changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(RefusedError, match=words) as refused:
        read_question(parse_question(_question(**changes)), SPACE)
    assert refused.value.field == field


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"log": "\\ud800", "seat": "p1"}', b"\xff", b"[" * 9999])
def test_what_is_no_question_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError):
        parse_question(data)


@pytest.mark.parametrize(
    ("tier", "format_id"),
    [
        ("[Gen 1] Random Battle", "gen1randombattle"),
        ("RBY OU", "gen1ou"),
        ("[Gen 9] Random Battle (Blitz)", "gen9randombattle"),
        ("[Gen 9] Unrated Random Battle", "gen9randombattle"),
        ("[Gen 9 Champions] VGC 2026 Reg M-B (Bo3)", "gen9championsvgc2026regmb"),
        ("[Gen 9] VGC 2024 Reg G", "gen9vgc2024reggbo3"),
        ("[Gen 9] VGC 2025 Reg G (Bo3)", "gen9vgc2024reggbo3"),
    ],
)
def test_the_number_of_battles_the_ladder_and_the_clock_are_not_the_format(tier: str, format_id: str) -> None:
    space = SPACE.model_copy(update={"format": format_id})
    question = parse_question(_question(log=[f"|tier|{tier}", *LOG]))
    assert read_question(question, space).turn == 1
