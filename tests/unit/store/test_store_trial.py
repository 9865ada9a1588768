"""A store is tried by writing to it."""

import json
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.store import open_store
from nashdex.store.directory import DirectoryStore
from nashdex.store.trial import try_store
from nashdex_cli.cli import run_command_line


class _Unconditional(DirectoryStore):
    """Writes what is to be written only where nothing is."""

    def put_if_absent(self, key: str, data: bytes) -> bool:
        self.put(key, data)
        return True


class _Altering(DirectoryStore):
    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        return super().get(key, max_bytes)[:-1]


def test_a_store_that_keeps_its_promises_is_left_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["check-store", "--store", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["uri"] == open_store(str(tmp_path)).uri
    assert list(open_store(str(tmp_path)).list("")) == []


def test_a_server_that_ignores_conditions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="ignores If-None-Match"):
        try_store(_Unconditional(tmp_path))


def test_a_store_that_alters_what_it_keeps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="differs from what was written"):
        try_store(_Altering(tmp_path))
