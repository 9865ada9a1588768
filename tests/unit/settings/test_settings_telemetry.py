"""The settings of logs, metrics and health come from the environment."""

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.settings.process import load_telemetry_settings


def test_each_has_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_ARCHIVE_LOGS", "1")
    monkeypatch.setenv("NASHDEX_METRICS_PORT", "9090")
    monkeypatch.setenv("RETRY", "3")
    monkeypatch.setenv("NASHDEX_DEBUG", "1")
    settings = load_telemetry_settings()
    assert settings.archive_logs
    assert settings.metrics_port == 9090
    assert settings.retry == 0
    monkeypatch.setenv("NASHDEX_RETRY", "2")
    assert load_telemetry_settings().retry == 2


def test_a_wrong_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_METRICS_PORT", "70000")
    with pytest.raises(ConfigurationError, match=r"metrics_port: .*65535"):
        load_telemetry_settings()


def test_words_may_be_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_LOG_LEVEL", "DEBUG")
    monkeypatch.setenv("NASHDEX_LOG_FORMAT", "Json")
    settings = load_telemetry_settings()
    assert (settings.log_level, settings.log_format) == ("debug", "json")
    monkeypatch.setenv("NASHDEX_LOG_LEVEL", "loud")
    with pytest.raises(ConfigurationError, match=r"log_level: must be 'debug', .* or 'error' \(got 'loud'\)"):
        load_telemetry_settings()
