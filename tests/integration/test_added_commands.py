"""Installed packages add commands and rewards; nashdex works without any of them."""

from pathlib import Path

import pytest

from support.packages import install, run_nashdex

COMMANDS = """
import typer
from nashdex.commands.added import Command


def greet(name: str) -> None:
    print(f"hello {name}")


GREET = Command(run=greet, panel="Greetings")
"""
HIDE = """
import importlib.metadata as metadata
found = metadata.entry_points
def others(**wanted):
    every = found()
    groups = (group for group in every.groups if not group.startswith("nashdex."))
    points = metadata.EntryPoints(point for group in groups for point in every.select(group=group))
    return points.select(**wanted)
metadata.entry_points = others
"""


@pytest.mark.parametrize(
    ("name", "arguments", "code", "said"),
    [
        ("greet", ("greet", "Ada"), 0, "hello Ada"),
        ("bench greet", ("bench", "greet", "Ada"), 0, "hello Ada"),
        (
            "dance greet",
            ("formats",),
            64,
            "to the group 'dance'; expected a group among",
        ),
    ],
)
def test_a_package_adds_a_command(tmp_path: Path, name: str, arguments: tuple[str, ...], code: int, said: str) -> None:
    site = install(
        tmp_path / "site", "greetings", {"greetings.py": COMMANDS}, {"nashdex.commands": {name: "greetings:GREET"}}
    )
    done = run_nashdex(site, *arguments)
    assert (done.returncode, done.stderr.count("Traceback")) == (code, 0)
    assert said in done.stdout + done.stderr


def test_a_package_that_cannot_be_imported_is_named_by_every_command(tmp_path: Path) -> None:
    site = install(
        tmp_path / "site", "broken", {"broken.py": "import nothing_such"}, {"nashdex.commands": {"b": "broken:B"}}
    )
    done = run_nashdex(site, "formats")
    assert (done.returncode, done.stderr.count("Traceback")) == (64, 0)
    assert "the command 'b' of the package broken cannot be imported" in done.stderr


@pytest.mark.slow
def test_nashdex_works_without_packages(tmp_path: Path) -> None:
    """Kuhn poker is trained, solved and verified where no entry point is installed."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(HIDE, encoding="utf-8")
    run = (
        "run",
        str(Path(__file__).parents[2] / "configs" / "kuhn.toml"),
        "--store",
        "runs",
        "--run",
        "k",
        "--set",
        "iterations=1",
    )
    done = run_nashdex(site, *run)
    assert done.returncode == 0, done.stderr
    assert run_nashdex(site, "verify", "runs/k").returncode == 0
    refused = run_nashdex(site, "battle", "--format", "gen1ou", "--p1", "metamon:grunt", "--p2", "random")
    assert (refused.returncode, "metamon:grunt" in refused.stderr) == (64, True)
