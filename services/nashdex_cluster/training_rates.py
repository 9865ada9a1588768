"""How fast the trainings are that actors play for, from the newest entries of their journals in the store."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nashdex.core.journal import Entry, journal_folder
from nashdex.core.steps import StepName
from nashdex.runs.creation import Run
from nashdex.store.attempt import find_manifest
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore

_NUM_ROUNDS = 20
"""Rounds that a rate is the mean of, at most."""


@dataclass(frozen=True)
class TrainingRates:
    """A training that has not ended, over its last rounds."""

    iteration: int
    shard: int
    round: int
    rounds: int
    """Rounds that the rates are the means of. Those that an attempt began with are left out."""
    decisions_per_second: float
    """Decisions used for learning, per second."""
    battles_per_second: float
    staleness_versions: float
    staleness_seconds: float
    learner_waiting_share: float
    """Share of the time in which it waits for chunks."""
    actors_waiting_share: float
    """Share of the time in which the players had nothing to play."""
    chunks_by_actor: Mapping[int, int]
    dropped: Mapping[str, int]
    """Dropped chunks of a stream, by cause."""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return asdict(self)


def training_rates(run: Run) -> Iterator[TrainingRates]:
    """Yield the rates of each training of the newest iteration that has any and has not ended.

    Raises:
        DataError: an entry is altered.
        TryAgainError: the store cannot be reached.
    """
    for iteration in range(run.settings.iterations):
        seeds = range(run.settings.train.seeds)
        running = [k for k in seeds if find_manifest(run.store, iteration, StepName.TRAIN, k) is None]
        for shard in running:
            if rates := _rates(run.store, iteration, shard):
                yield rates
        if running:
            return


def _rates(store: ObjectStore, iteration: int, shard: int) -> TrainingRates | None:
    keys = sorted(store.list(f"{journal_folder(iteration, shard)}/"))[-_NUM_ROUNDS:]
    entries = [Entry.from_json(store.get(key, MAX_MANIFEST_BYTES), f"{store.uri}/{key}") for key in keys]
    timed = [entry for entry in entries if entry.round_seconds]
    if not timed:
        return None
    seconds = sum(entry.round_seconds for entry in timed)
    busy_seconds = sum(entry.actors_seconds for entry in timed)
    idle_seconds = sum(entry.actors_waited_seconds for entry in timed)
    by_actor, dropped = Counter[int](), Counter[str]()
    for entry in timed:
        by_actor.update(entry.chunks_by_actor)
        dropped.update(entry.dropped)
    return TrainingRates(
        iteration=iteration,
        shard=shard,
        round=entries[-1].round,
        rounds=len(timed),
        decisions_per_second=sum(entry.learned_decisions for entry in timed) / seconds,
        battles_per_second=sum(entry.battles for entry in timed) / seconds,
        staleness_versions=sum(entry.staleness_versions for entry in timed) / len(timed),
        staleness_seconds=sum(entry.staleness_seconds for entry in timed) / len(timed),
        learner_waiting_share=sum(entry.waited_seconds for entry in timed) / seconds,
        actors_waiting_share=idle_seconds / (busy_seconds + idle_seconds) if busy_seconds else 0.0,
        chunks_by_actor=dict(sorted(by_actor.items())),
        dropped=dict(sorted(dropped.items())),
    )
