"""``nashdex bench conformance``: the accelerated simulator against the published one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nashdex.games.showdown.gateway import GatewaySettings

pytestmark = pytest.mark.integration


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nashdex_cli", "bench", "conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)


@pytest.mark.slow
def test_every_format_plays_the_same_battles() -> None:
    process = _run("--battles", "75", "--json")
    assert process.returncode == 0, process.stderr
    answer = json.loads(process.stdout)
    assert len(answer.pop("formats")) == 72, "every format is played, as many as --help says"
    assert answer.pop("decisions") > 30 * 75
    assert answer.pop("machine")["cores"] >= 1
    assert answer == {"battles": 75, "differences": 0, "first_difference": None}


def test_refuses_a_format_that_does_not_exist() -> None:
    process = _run("--formats", "gen1ou,gen1oops")
    assert process.returncode == 64
    assert process.stderr.startswith('error: unknown format "gen1oops": expected')
    assert process.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_difference_is_a_failure_that_is_named(tmp_path: Path) -> None:
    """The gateway's folder replaces a release whose speed-up is broken: everything is the same but that."""
    real = GatewaySettings().directory
    for folder in ("src", "bench"):
        shutil.copytree(real / folder, tmp_path / folder)
    for name in ("node_modules", "package.json"):
        (tmp_path / name).symlink_to(real / name)
    (tmp_path / "src" / "simulator" / "accelerate" / "accelerate.js").write_text(
        'import { Battle } from "../package.js";\n'
        "const { faint } = Battle.prototype;\n"
        "export function accelerate() {\n"
        "  Battle.prototype.faint = function (...args) { this.random(2); return faint.apply(this, args); };\n"
        "  return true;\n"
        "}\n"
    )
    environment = {"NASHDEX_GATEWAY_DIRECTORY": str(tmp_path), "PATH": os.environ["PATH"]}
    process = _run("--formats", "gen1randombattle", "--battles", "2", "--json", **environment)
    assert process.returncode == 65, process.stderr
    answer = json.loads(process.stdout)
    assert answer["differences"] > 0
    assert answer["first_difference"]["format"] == "gen1randombattle"
    assert "NASHDEX_GATEWAY_ACCELERATION=false" in process.stderr
