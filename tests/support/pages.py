"""Code blocks of documentation pages, so that tests run what readers copy."""

import re
import tomllib
from pathlib import Path

from support.packages import install

DOCS = Path(__file__).parents[2] / "docs"


def titled_block(page: str, title: str) -> str:
    """Return the block with the given title of a page below ``docs``."""
    (block,) = re.findall(
        rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```$', _text(page), flags=re.MULTILINE | re.DOTALL
    )
    return str(block)


def commands(page: str) -> list[list[str]]:
    """Return the arguments of every ``nashdex`` command in the page's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", _text(page), flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.split()[1:] for line in lines if line.startswith("nashdex ")]


def install_package(page: str, source: str, site: Path) -> Path:
    """Install the package that a page builds: its file ``source`` and its ``pyproject.toml``."""
    project = tomllib.loads(titled_block(page, "pyproject.toml"))["project"]
    return install(site, project["name"], {source: titled_block(page, source)}, project["entry-points"])


def _text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")
