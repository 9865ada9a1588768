"""Logs that steps have written to their run's store (``telemetry.log_archive``): they outlive the pods."""

import re
from collections.abc import Iterator

from nashdex.core import keys
from nashdex.store.protocol import ObjectStore

_PART = re.compile(rf"{keys.LOGS}/(?P<iteration>\d+)/(?P<step>[a-z]+)/(?P<shard>\d+)/(?P<attempt>[^/]+)/\d+\.jsonl")


def archived_lines(
    store: ObjectStore, *, step: str | None = None, iteration: int | None = None, shard: int | None = None
) -> Iterator[str]:
    """Yield the lines of every attempt, each after its step, iteration and shard; None selects all.

    Args:
        store: the store, rooted at the run.
        step: name of a step.
        iteration: number of an iteration.
        shard: number of a shard.
    """
    prefix = f"{keys.LOGS}/" if iteration is None else f"{keys.LOGS}/{iteration:04d}/"
    for key in store.list(prefix):
        part = _PART.fullmatch(key)
        if part is None or step not in {None, part["step"]} or shard not in {None, int(part["shard"])}:
            continue
        head = f"{part['step']}, iteration {int(part['iteration'])}, shard {int(part['shard'])}"
        for line in store.get(key).decode(errors="replace").splitlines():
            yield f"{head} | {line}"
