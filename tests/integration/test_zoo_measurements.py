"""What a user measures of the zoo's policies is printed, or kept in a store of the user's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.ids import BarePolicyId
from nashdex.core.references import ZOO
from nashdex.policies.references import find_policy
from nashdex.store import open_store
from nashdex.store.naming import parse_uri
from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration
NAME = "gen1randombattle-2.5m"
LEVELS = ["levels", f"zoo:{NAME}", "--battles", "2", "--temperature", "0"]
MAPS = ["calibrate", f"zoo:{NAME}", "--battles", "2"]


def zoo_files() -> dict[str, int]:
    folder = parse_uri(ZOO)
    assert isinstance(folder, Path)
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize(("command", "key"), [(LEVELS, keys.policy_levels), (MAPS, keys.policy_calibration)])
def test_measurements_of_the_zoo_are_kept_only_where_the_user_says(
    command: list[str], key: Callable[[BarePolicyId], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = zoo_files()
    assert run_command_line(["policy", *command]) == 0
    out, err = capsys.readouterr()
    assert "against" in out
    assert f"zoo:{NAME} comes with nashdex" in err
    assert zoo_files() == before

    own = str(tmp_path / "own")
    assert run_command_line(["policy", *command, "--store", own]) == 65
    assert f"nashdex policy get zoo:{NAME} {own}" in capsys.readouterr().err
    assert run_command_line(["policy", "get", f"zoo:{NAME}", own]) == 0
    assert run_command_line(["policy", *command, "--store", own]) == 0
    assert open_store(own).exists(key(find_policy(open_store(ZOO), NAME)))
    assert zoo_files() == before
