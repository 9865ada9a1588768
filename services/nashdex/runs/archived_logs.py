"""Logs that steps have written to their run's store (``telemetry.logging``): they outlive the pods."""

import json
import re
from collections.abc import Iterator
from itertools import groupby

from nashdex.core import keys
from nashdex.store.protocol import ObjectStore

_PART = re.compile(
    rf"(?P<shard_prefix>{keys.LOGS}/(?P<iteration>\d+)/(?P<step>[a-z]+)/(?P<shard>\d+))/(?P<attempt>[^/]+)/\d+\.jsonl"
)


def archived_lines(
    store: ObjectStore, *, step: str | None = None, iteration: int | None = None, shard: int | None = None
) -> Iterator[str]:
    """Yield lines as ``step, iteration, shard | line``, shard by shard, and each shard's attempts from the first on.

    Args:
        store: the store, rooted at the run.
        step: name of a step; None for all.
        iteration: number of an iteration; None for all.
        shard: number of a shard; None for all.
    """
    prefix = f"{keys.LOGS}/" if iteration is None else f"{keys.LOGS}/{iteration:04d}/"
    parts = [
        part
        for part in map(_PART.fullmatch, store.list(prefix))
        if part is not None and step in {None, part["step"]} and shard in {None, int(part["shard"])}
    ]
    for _, group in groupby(parts, lambda part: part["shard_prefix"]):
        attempts: dict[str, list[str]] = {}
        for part in group:
            head = f"{part['step']}, iteration {int(part['iteration'])}, shard {int(part['shard'])}"
            attempts.setdefault(part["attempt"], []).extend(_lines(store, part[0]))
        for lines in sorted(attempts.values(), key=_began):
            yield from (f"{head} | {line}" for line in lines)


def _lines(store: ObjectStore, key: str) -> list[str]:
    return store.get(key).decode(errors="replace").splitlines()


def _began(lines: list[str]) -> str:
    """Return the time of an attempt's first line."""
    try:
        return str(json.loads(lines[0])["timestamp"])
    except (IndexError, ValueError, KeyError, TypeError):
        return ""
