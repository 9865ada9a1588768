"""Messages of the gateway are typed, and one that does not fit the protocol is refused with a reason."""

import json

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.gateway import decode_message
from nashdex.games.showdown.protocol import Recycle, Rejected


def _payload(message: object) -> memoryview:
    return memoryview(json.dumps(message).encode())


def test_a_message_has_the_type_that_it_names() -> None:
    rejected = {"type": "rejected", "battle": 7, "seat": 1, "action": 3, "choice": "switch 4", "cause": "trapped"}
    message = decode_message(_payload(rejected))
    assert message == Rejected(battle=7, seat=1, action=3, choice="switch 4", cause="trapped")
    assert decode_message(_payload({"type": "recycle", "reason": "heap"})) == Recycle(reason="heap")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"type": "rejected", "battle": 7}, r"rejected\.seat: missing; expected a value"),
        ({"type": "stats"}, "stats"),
        ({"type": "recycle", "reason": "heap", "heap": 1}, r"recycle\.heap: no such key"),
        ([], "the document"),
    ],
)
def test_a_message_that_does_not_fit_names_the_field_and_the_remedy(message: object, words: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"does not fit the protocol \(.*{words}.*use one release of both"):
        decode_message(_payload(message))
