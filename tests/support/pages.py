"""Packages that documentation pages build from titled blocks, so that tests run what readers copy."""

import tomllib
from pathlib import Path

from support import snippets
from support.packages import install
from support.snippets import ROOT


def titled_block(page: str, title: str) -> str:
    """Return the block of a page below ``docs`` that is the file ``title``."""
    (block,) = (snippet for snippet in snippets.snippets(ROOT / "docs" / page) if snippet.title == title)
    return block.text


def commands(page: str) -> list[list[str]]:
    """Return the arguments of every ``nashdex`` command in the page's shell blocks."""
    scripts = (snippet.text for snippet in snippets.snippets(ROOT / "docs" / page) if snippet.language == "sh")
    found = (command for script in scripts for command in snippets.commands(script))
    return [arguments for program, *arguments in found if program == "nashdex"]


def install_package(page: str, source: str, site: Path) -> Path:
    """Install the package that a page builds: its file ``source`` and its ``pyproject.toml``."""
    project = tomllib.loads(titled_block(page, "pyproject.toml"))["project"]
    return install(site, project["name"], {source: titled_block(page, source)}, project["entry-points"])
