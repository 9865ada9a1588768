"""Which battle a source names, and what is said of one that is none."""

import json
from pathlib import Path

import pytest

from nashdex.core.errors import DataError
from nashdex.page.battles import read_battle

LOG = "|player|p1|A|\n|tier|[Gen 1] OU\n|turn|1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOG, "gen1ou"),
        (json.dumps({"log": LOG}), "gen1ou"),
        (json.dumps({"kind": "nashdex battle", "version": 1, "format": "gen9ou"}), "gen9ou"),
        ("|tier|[Gen 9] VGC 2023 Regulation C\n", "gen9vgc2023regc"),
    ],
)
def test_a_file_names_its_format(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "a battle.log"
    file.write_text(text)
    assert read_battle(str(file)).format == expected
    assert read_battle(file.as_uri()).text == text


def test_a_battle_of_a_report(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    pages = json.dumps({"a-b-0": f"<script>{LOG}"}).replace("<", "\\u003c")
    file.write_text(f'<p><script type="application/json" id="replay-pages">{pages}</script>')
    assert read_battle(f"{file}#a-b-0").text == f"<script>{LOG}"
    with pytest.raises(DataError, match="has no battle 'other'; it has a-b-0"):
        read_battle(f"{file}#other")


@pytest.mark.parametrize(
    ("text", "fragment", "message"),
    [
        ("nothing", "", "does not name its format"),
        ("x" * (2**20 + 1), "", "more than 1,048,576 bytes"),
        ("<p>", "#name", "no report of nashdex"),
    ],
)
def test_what_is_no_battle(tmp_path: Path, text: str, fragment: str, message: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(DataError, match=message):
        read_battle(f"{file}{fragment}")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_battle(str(tmp_path / "missing.log"))
