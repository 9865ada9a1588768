"""What comes out on standard error, by format, and that no secret is in it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

SECRET = "a-very-secret-value"  # noqa: S105 - it is the test's own
PROGRAM = """
import logging, structlog
from nashdex.telemetry.server import start_telemetry

start_telemetry(component="tests")
log = structlog.get_logger("nashdex.tests")
log.info("plain", battles=12, share=0.5, tokens=7)
log.debug("too fine")
log.warning("named", secret_key="abc", session={"token": "abc", "rows": [{"password": "abc"}]})
log.warning("url", store="https://someone:abc@host/path", signed="https://h/x?X-Amz-Signature=abc&y=1")
log.warning("known", text="key SECRET here", deep=[["SECRET"]], error=ValueError("SECRET"))
logging.getLogger("library").warning("library says SECRET")
logging.getLogger("library").info("chatter")
try:
    raise ValueError("SECRET and abc")
except ValueError:
    log.exception("failed")
print("the answer")
""".replace("SECRET", SECRET)


def run(**environment: str) -> tuple[str, str]:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "AWS_SECRET_ACCESS_KEY": SECRET, **environment},
    )
    return result.stdout, result.stderr


def test_json_lines_where_there_is_no_terminal() -> None:
    stdout, stderr = run()
    assert stdout == "the answer\n"
    events: dict[str, dict[str, Any]] = {}
    for line in stderr.splitlines():
        entry = json.loads(line)
        events[entry["event"]] = entry
    plain = events["plain"]
    assert plain["timestamp"].endswith("Z")
    assert {key: value for key, value in plain.items() if key != "timestamp"} == {
        "event": "plain",
        "level": "info",
        "logger": "nashdex.tests",
        "battles": 12,
        "share": 0.5,
        "tokens": 7,
    }
    named = {key: events["named"][key] for key in ("secret_key", "session")}
    assert named == {
        "secret_key": "[redacted]",
        "session": {"token": "[redacted]", "rows": [{"password": "[redacted]"}]},
    }
    assert events["url"]["store"] == "https://[redacted]@host/path"
    assert events["url"]["signed"] == "https://h/x?X-Amz-Signature=[redacted]&y=1"
    assert events["known"]["text"] == "key [redacted] here"
    assert "ValueError: [redacted] and abc" in events["failed"]["exception"]
    assert events["library says [redacted]"]["logger"] == "library"
    assert not {"too fine", "chatter"} & events.keys()
    assert SECRET not in stderr


def test_lines_for_people_on_request() -> None:
    stdout, stderr = run(NASHDEX_LOG_FORMAT="console", NASHDEX_LOG_LEVEL="debug")
    assert stdout == "the answer\n"
    assert SECRET not in stderr
    first = stderr.splitlines()[0]
    assert "plain" in first
    assert "battles=12" in first
    assert "too fine" in stderr
    with pytest.raises(json.JSONDecodeError):
        json.loads(first)


def test_a_wrong_format_is_refused_by_name() -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(NASHDEX_LOG_FORMAT="xml")
    assert "ConfigurationError" in caught.value.stderr
    assert "log_format: must be 'console' or 'json' (got 'xml')" in caught.value.stderr
