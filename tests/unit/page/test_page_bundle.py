"""What the page of ``nashdex play`` is built from, and what is said meanwhile."""

from pathlib import Path

import pytest

from nashdex.core.errors import TryAgainError
from nashdex_play.page.bundle import format_bundle


def test_an_installation_is_announced_and_its_failure_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("page/package.json", "page/package-lock.json", "showdown/package-lock.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/bin:/usr/bin")
    monkeypatch.setenv("NASHDEX_GATEWAY_DIRECTORY", str(tmp_path / "showdown"))
    said: list[str] = []
    with pytest.raises(TryAgainError, match=r"could not install the page's packages \(no network\)"):
        format_bundle("gen1ou", [], said.append)
    assert said == [f"installing the packages of {tmp_path / 'page'}, once: a minute or two"]
