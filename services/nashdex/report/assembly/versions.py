"""Versions of the software behind a run."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from nashdex.report.document import IterationRow
from nashdex.report.sources import IterationSources

_PACKAGES = ("numpy", "scipy", "pydantic", "torch", "poke-env", "open-spiel")


def iteration_versions(sources: IterationSources) -> dict[str, str]:
    """Return the versions that made an iteration, several where the run continued under another."""
    nashdex = ({"nashdex": manifest.nashdex_version} for manifest in sources.manifests.all)
    return _merged([*nashdex, *(result.versions for result in sources.collected)])


def run_versions(rows: Sequence[IterationRow]) -> dict[str, str]:
    """Return the versions that made the run, and this process's own."""
    found = _merged(
        {name: number} for row in rows for name, numbers in row.versions.items() for number in numbers.split(", ")
    )
    found["python"] = platform.python_version()
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _merged(versions: Iterable[Mapping[str, str]]) -> dict[str, str]:
    merged: dict[str, set[str]] = {}
    for found in versions:
        for name, number in found.items():
            merged.setdefault(name, set()).add(number)
    return {name: ", ".join(sorted(numbers)) for name, numbers in sorted(merged.items())}
