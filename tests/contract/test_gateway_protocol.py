"""The messages between Python and the gateway have one schema, which both sides apply alike."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from nashdex.games.showdown.protocol import CLIENT_MESSAGE, GATEWAY_MESSAGE, protocol_schema

PACKAGE = Path(__file__).parents[2] / "services" / "showdown"
MESSAGES = json.loads((PACKAGE / "test" / "gateway" / "messages.json").read_text())
"""Good and bad messages of both directions. The gateway's own tests read the same file."""
ADAPTERS: dict[str, TypeAdapter[Any]] = {"client": CLIENT_MESSAGE, "gateway": GATEWAY_MESSAGE}


def _cases(kind: str) -> list[Any]:
    return [
        pytest.param(direction, case, id=f"{direction}: {case.get('why', case.get('type'))}")
        for direction in ADAPTERS
        for case in MESSAGES[direction][kind]
    ]


def test_the_schema_is_the_one_that_the_models_make() -> None:
    schema = (PACKAGE / "src" / "gateway" / "protocol" / "generated" / "schema.json").read_text()
    assert json.loads(schema) == protocol_schema(), "run `make docs`"


@pytest.mark.parametrize(("direction", "message"), _cases("good"))
def test_a_good_message_is_read_and_written_unchanged(direction: str, message: dict[str, Any]) -> None:
    model = ADAPTERS[direction].validate_json(json.dumps(message))
    written = json.loads(model.model_dump_json(exclude_unset=True))
    assert written == message
    assert model.type == message["type"]


@pytest.mark.parametrize(("direction", "case"), _cases("bad"))
def test_a_bad_message_is_refused(direction: str, case: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ADAPTERS[direction].validate_json(json.dumps(case["message"]))
