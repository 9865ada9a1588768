"""Installed packages add commands and rewards; nashdex works without any of them."""

from pathlib import Path

import pytest

from support.packages import install, run_nashdex

COMMANDS = """
import typer
from nashdex_cli.commands.added import Command


def greet(name: str) -> None:
    print(f"hello {name}")


GREET = Command(run=greet, panel="Greetings")
greetings = typer.Typer()
greetings.command()(greet)
GREETINGS = Command(run=greetings)
"""
HIDE = """
import importlib.metadata as metadata
found = metadata.entry_points
def others(**wanted):
    every = found()
    points = (point for group in every.groups for point in every.select(group=group))
    shown = (point for point in points if not point.group.startswith("nashdex.") or point.module == "{kept}")
    return metadata.EntryPoints(shown).select(**wanted)
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


def test_a_group_of_a_package_adds_its_commands_to_one_of_the_same_name(tmp_path: Path) -> None:
    added = {"nashdex.commands": {"config": "greetings:GREETINGS"}}
    site = install(tmp_path / "site", "greetings", {"greetings.py": COMMANDS}, added)
    assert run_nashdex(site, "config", "greet", "Ada").stdout == "hello Ada\n"
    assert run_nashdex(site, "config", "schema").returncode == 0


@pytest.mark.parametrize("arguments", [(), ("--help",), ("scaling", "--policies", "6")])
def test_without_nashdex_bench_its_group_says_what_to_install(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    site = _without_packages(tmp_path)
    done = run_nashdex(site, "bench", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (64, "", 1)
    assert "pip install 'nashdex[bench]'" in done.stderr


def test_benchmarks_of_other_packages_need_no_nashdex_bench(tmp_path: Path) -> None:
    site = _without_packages(tmp_path, kept="greetings")
    install(site, "greetings", {"greetings.py": COMMANDS}, {"nashdex.commands": {"bench greet": "greetings:GREET"}})
    assert run_nashdex(site, "bench", "greet", "Ada").stdout == "hello Ada\n"
    assert run_nashdex(site, "bench", "collect").returncode == 64


def _without_packages(folder: Path, kept: str = "") -> Path:
    """Return a folder for ``sys.path`` that hides what installed packages add to nashdex, but the module ``kept``."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(HIDE.format(kept=kept), encoding="utf-8")
    return site


def test_replays_need_the_package_that_reads_them(tmp_path: Path) -> None:
    config = Path(__file__).parents[2] / "configs" / "gen1ou-replays.toml"
    replays = config.parent / "replays" / "gen1ou-sample.jsonl.gz"
    overrides = ("--set", f"train.first.replays.path='{replays}'")
    done = run_nashdex(_without_packages(tmp_path), "run", str(config), *overrides)
    assert (done.returncode, done.stderr.count("Traceback")) == (64, 0)
    assert "The package nashdex_replays, a part of nashdex, reads Showdown's: install nashdex again" in done.stderr


@pytest.mark.slow
def test_nashdex_works_without_packages(tmp_path: Path) -> None:
    """Kuhn poker is trained, solved and verified where no entry point is installed."""
    site = _without_packages(tmp_path)
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
