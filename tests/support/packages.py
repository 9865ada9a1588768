"""Installed packages that add to nashdex by entry points, made on the spot."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def install(site: Path, name: str, sources: Mapping[str, str], entry_points: Mapping[str, Mapping[str, str]]) -> Path:
    """Lay out an installed package in the folder ``site`` as pip does, and return ``site`` for ``sys.path``.

    Args:
        site: stands for site-packages.
        name: the package's name.
        sources: source text by file name, such as ``toy.py``.
        entry_points: ``module:attribute`` by entry's name, by group.
    """
    site.mkdir(parents=True, exist_ok=True)
    for file, text in sources.items():
        (site / file).write_text(text, encoding="utf-8")
    metadata = site / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    groups = (
        "\n".join((f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())))
        for group, entries in entry_points.items()
    )
    (metadata / "entry_points.txt").write_text("\n\n".join(groups) + "\n", encoding="utf-8")
    return site


def run_nashdex(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``nashdex`` with the packages of ``site`` installed, in the folder that ``site`` is in."""
    return subprocess.run(
        [sys.executable, "-m", "nashdex_cli", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=site.parent,
    )
