"""What a run found, as bytes: equal for two runs that must not differ."""

from collections.abc import Iterable

from nashdex.core import keys
from nashdex.core.steps import StepName
from nashdex.store.attempt import read_manifest, read_object
from nashdex.store.protocol import ObjectStore

FINDING_STEPS = frozenset({StepName.PLAN, StepName.SOLVE})
"""Steps whose published documents hold no times."""


def published(
    store: ObjectStore, iterations: Iterable[int], steps: Iterable[StepName] = FINDING_STEPS
) -> dict[tuple[int, str], bytes]:
    """Return the documents that steps published, by iteration and name."""
    return {
        (iteration, name): read_object(store, read_manifest(store, iteration, step, 0), name)
        for iteration in iterations
        for name, step in keys.PUBLISHED_BY.items()
        if step in steps
    }
