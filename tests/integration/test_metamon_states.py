"""What a checkpoint sees here is what metamon's own code showed it, end to end from lines and requests."""

import json
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line
from support.metamon_goldens import METAMON_DATA

pytestmark = pytest.mark.integration

LAST_COPY_FAINTS = {("gen3ou-9001", 1, 54)}
"""The battle ends as a transformed Pokémon faints: metamon keeps the copied moves of the request before."""


@pytest.mark.slow
def test_every_text_and_number_of_the_golden_battles(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(("bench", "parity", str(METAMON_DATA), "--json")) == 65
    found = json.loads(capsys.readouterr().out)
    counts = found["formats"].values()
    assert sum(one["decisions"] for one in counts) > 1000
    assert sum(one["decisions"] - one["equal"] for one in counts) == len(LAST_COPY_FAINTS)
    differing = {(one["battle"], one["seat"], one["decision"]) for one in found["differences"]}
    assert differing >= LAST_COPY_FAINTS
    assert {battle for battle, _, _ in differing} == {"gen3ou-9001"}


def test_a_folder_without_goldens_is_refused(tmp_path: Path) -> None:
    assert run_command_line(("bench", "parity", str(tmp_path))) == 64
