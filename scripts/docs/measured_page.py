"""The reference page of what oracles measure, made from their declarations."""

from nashdex.oracles.registry import ORACLES

_HEAD = """\
# What oracles measure

Every training reports values over its optimiser steps (its curve) and at its end (its summary), in the report and in
`result.json`.

| value | of | meaning |
|---|---|---|
"""


def measured_page() -> str:
    """Return the page: a row for each value and meaning, with the oracles that measure it."""
    oracles: dict[tuple[str, str], list[str]] = {}
    for name in ORACLES.names:
        for row in ORACLES[name].metrics.items():
            oracles.setdefault(row, []).append(f"`{name}`")
    rows = (f"| `{value}` | {', '.join(names)} | {meaning} |" for (value, meaning), names in oracles.items())
    return _HEAD + "\n".join(rows) + "\n"
