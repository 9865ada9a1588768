"""A secret is in no message, whatever brought it there."""

import json
import logging
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.redaction import clean, printable, redacted
from nashdex.store import open_store
from nashdex.store.verdict import Phase, record_end
from nashdex.telemetry.logging import json_formatter
from nashdex_cli.cli import TERMINATION_LOG_VARIABLE, run_command_line

USER, PASSWORD = "RESEARCHER", "s3cr/et+w0rd"
PARTS = (USER, PASSWORD, "s3cr", "w0rd")


@pytest.mark.parametrize(
    ("text", "clean_text"),
    [
        ("s3://KEY:SECRET@bucket/run is", "s3://[redacted]@bucket/run is"),
        ("s3://KEY:SEC/RET@bucket/run", "s3://[redacted]@bucket/run"),
        ("s3://KEY:SEC@RET@bucket/run", "s3://[redacted]@bucket/run"),
        ("'https://:SECRET@host:9000'", "'https://[redacted]@host:9000'"),
        ("https://TOKEN@host/x", "https://[redacted]@host/x"),
        ("http://127.0.0.1:7400/p0001@greedy", "http://127.0.0.1:7400/p0001@greedy"),
        ("s3://bucket/runs/p0001@T0.5", "s3://bucket/runs/p0001@T0.5"),
        ("p0001@greedy at s3://bucket", "p0001@greedy at s3://bucket"),
    ],
)
def test_user_and_password_of_an_address_are_replaced(text: str, clean_text: str) -> None:
    assert redacted(text) == clean_text


def test_no_error_log_verdict_or_termination_log_shows_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint = f"http://{USER}:{PASSWORD.replace('/', '%2F')}@127.0.0.1:1"
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    termination_log = tmp_path / "termination"
    monkeypatch.setenv(TERMINATION_LOG_VARIABLE, str(termination_log))
    uri = f"s3://{USER}:{PASSWORD}@bucket/run"
    said = ""
    for words in (
        ["verify", uri],
        ["verify", "s3://bucket/run", "--json"],
        ["report", uri, "--output", str(tmp_path / "page.html")],
        ["run", "configs/kuhn.toml", "--store", uri],
        ["check-store", "--store", "s3://bucket/runs"],
        ["status", uri],
        [uri],
        ["rate", uri],
        ["config", "show", uri, "--set", uri],
    ):
        assert run_command_line(words) in {64, 65, 75}
        said += "".join(capsys.readouterr()) + termination_log.read_text()
    assert said.count("[redacted]") >= 8
    store = open_store(str(tmp_path / "store"))
    record_end(store, Phase.FAILED, 0, f"the pod could not read {uri} with {PASSWORD}")
    said += store.get(keys.VERDICT).decode()
    record = logging.LogRecord("x", logging.ERROR, __file__, 0, f"{DataError(uri)} {endpoint} {PASSWORD}", None, None)
    said += json_formatter().format(record)
    for part in PARTS:
        assert part not in said


def test_what_a_terminal_would_obey_is_an_escape_and_json_means_the_same() -> None:
    text = "a\x1b[31mred\x9b1m\u202eback\r\nnext\tline"
    assert printable(text) == "a\\u001b[31mred\\u009b1m\\u202eback\\u000d\nnext\tline"
    name = "\x9b\u202e é 😀"
    assert json.loads(clean(json.dumps({"name": name}, ensure_ascii=False))) == {"name": name}
