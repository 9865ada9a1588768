"""The documentation site builds strictly: no broken link or anchor, every page in the navigation, no network needed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
LOADED = re.compile(
    r'<(?:script|img|iframe|link rel="(?:stylesheet|preconnect|icon)")[^>]+(?:src|href)="?(https?:[^" >]+)'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=400)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.parametrize("name", ["dashboard", "rooms"])
def test_a_drawing_is_current(name: str) -> None:
    script = ROOT / "scripts" / "docs" / f"{name}_drawing.py"
    drawn = subprocess.run([sys.executable, str(script)], check=True, capture_output=True).stdout
    assert (ROOT / "docs" / "images" / f"{name}.svg").read_bytes() == drawn, "run 'make docs'"


def test_the_architecture_page_has_the_layers_packages_and_rooms() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    for contract in contracts["contracts"][:2]:
        layers = "\n".join(layer.replace(" | ", " · ") for layer in contract["layers"])
        assert f"```text\n{layers}\n```" in page
    rows = {
        name for row in re.findall(r"^\| ((?:`\w+`,? ?)+)\|", page, re.MULTILINE) for name in re.findall(r"\w+", row)
    }
    services = ROOT / "services"
    packages = {path.parent.name for path in services.glob("nashdex_*/__init__.py")}
    assert rows == packages | {path.parent.name for path in services.glob("nashdex/*/__init__.py")}


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = {
        f"{page.relative_to(site)}: {address}"
        for page in site.rglob("*.html")
        for address in LOADED.findall(page.read_text(encoding="utf-8"))
    }
    assert loaded == set()


def test_reference_pages_cover_commands_settings_and_alerts(site: Path) -> None:
    text = {
        name: (site / "reference" / f"{name}.html").read_text(encoding="utf-8")
        for name in ("cli", "settings", "alerts")
    }
    assert 'id="nashdex-run"' in text["cli"]
    assert "--processes" in text["cli"]
    assert "[collect]" in text["settings"]
    assert "battles_per_pair" in text["settings"]
    assert "rho_bar" in text["settings"], "keys of a kind that is chosen within another kind"
    assert "NASHDEX_LOG_LEVEL" in text["settings"], "variables of the environment"
    assert "2^39" not in text["settings"], "a bound of 10^12 is no power of two"
    assert "NashdexRunStalled" in text["alerts"]
    assert "{{" not in text["alerts"]
    assert "run run" not in text["alerts"]
    assert "nashdex-records" not in text["alerts"], "a group without alerts"
