"""requirements/*.txt has everything that pyproject.toml asks for, in one version each, and with hashes."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
LOCKS = sorted(path.stem for path in (ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = {"battles": "battles", "trainer": "trainer", "control": "control", "local": "local", "dev": "local"}
"""The extra of each lock."""


def pins(lock: str) -> dict[str, str]:
    """Return the version of each package in a lock."""
    lines = (ROOT / "requirements" / f"{lock}.txt").read_text().splitlines()
    found = [re.match(r"([\w.-]+)(?:\[.*?\])?==([^\s;]+)", line) for line in lines]
    return {canonicalize_name(match[1]): match[2] for match in found if match}


def required(extra: str) -> list[Requirement]:
    """Return what an image with an extra requires, with the extras that it includes."""
    own = [Requirement(text) for text in PROJECT["project"]["optional-dependencies"][extra]]
    inner = [each for requirement in own if requirement.name == "nashdex" for each in requirement.extras]
    return [each for each in own if each.name != "nashdex"] + [each for name in inner for each in required(name)]


def group(name: str) -> list[Requirement]:
    """Return the requirements of a dependency group, with the groups that it includes."""
    entries = PROJECT["dependency-groups"][name]
    own = [Requirement(each) for each in entries if isinstance(each, str)]
    return own + [each for entry in entries if isinstance(entry, dict) for each in group(entry["include-group"])]


@pytest.mark.parametrize("lock", EXTRAS)
def test_a_lock_has_what_pyproject_asks_for(lock: str) -> None:
    asked = [Requirement(each) for each in PROJECT["project"]["dependencies"]] + required(EXTRAS[lock])
    if lock == "dev":
        asked += group("dev")
    has = pins(lock) | pins("torch")
    for requirement in asked:
        version = has.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not locked: run `make lock`"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}: run `make lock`"


@pytest.mark.parametrize("lock", [lock for lock in EXTRAS if lock != "dev"])
def test_images_have_the_versions_that_are_tested(lock: str) -> None:
    assert pins(lock).items() <= pins("dev").items()


@pytest.mark.parametrize("lock", [lock for lock in LOCKS if lock != "torch"])
def test_every_package_has_hashes(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    entries = re.split(r"^(?=[\w.-]+(?:\[.*?\])?==)", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.partition("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []
