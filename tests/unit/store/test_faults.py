"""A run in whose store one operation fails, once, in any way: it goes on to the same results."""

import os
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError, NoObjectError, TryAgainError
from nashdex.core.steps import StepName
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_done, read_manifest, read_object
from nashdex.store.directory import DirectoryStore
from nashdex.store.protocol import ObjectStore
from support.faulty_store import Fault, FaultyStore
from support.kuhn import SMALLEST_RUN
from support.memory_store import MemoryStore
from support.results import published

SETTINGS = RunSettings.model_validate(SMALLEST_RUN)
EXHAUSTIVE = bool(os.environ.get("NASHDEX_TEST_EXHAUSTIVE"))
WORK = [
    (iteration, step.name, shard)
    for iteration in range(SETTINGS.iterations)
    for step in iteration_steps(SETTINGS)
    for shard in range(num_shards(SETTINGS, step.name))
]


def go_on(store: ObjectStore, first: int = 0, last: int = len(WORK)) -> None:
    for iteration, step, shard in WORK[first:last]:
        step_function(step)(store, SETTINGS, iteration, shard)


def results(store: ObjectStore) -> dict[tuple[int, str], bytes]:
    """Return everything that the run found, apart from times."""
    return published(store, [SETTINGS.iterations - 1])


@pytest.fixture(scope="module")
def stages() -> list[dict[str, bytes]]:
    """Return the objects before each step, and at the end."""
    store = MemoryStore()
    found = [dict(store.objects)]
    for number in range(len(WORK)):
        go_on(store, number, number + 1)
        found.append(dict(store.objects))
    return found


@pytest.mark.parametrize("fault", ["before", "after", "truncated", "stale list"])
@pytest.mark.parametrize("step", range(len(WORK)), ids=[f"{step}" for _, step, _ in WORK])
def test_every_operation_of_every_step_fails_once(stages: list[dict[str, bytes]], step: int, fault: Fault) -> None:
    """The step is refused, or fails and is tried again, as the runner does; it then ends with the same objects."""
    expected = results(MemoryStore(stages[-1]))
    counting = FaultyStore(MemoryStore(dict(stages[step])), -1, fault)
    go_on(counting, step, step + 1)
    kinds = {"truncated": {"get"}, "stale list": {"list"}}.get(fault, {*counting.operations})
    places = [place for place, name in enumerate(counting.operations) if name in kinds]
    if WORK[step][1] is StepName.REPORT and not EXHAUSTIVE:
        places = places[:: len(places) // 4 or 1]  # a page takes longer than all other steps
    for place in places:
        below = MemoryStore(dict(stages[step]))
        try:
            go_on(FaultyStore(below, place, fault), step, step + 1)
        except TryAgainError:
            pass
        except DataError:
            assert fault == "truncated"
        go_on(below, step, step + 1)
        iteration, name, shard = WORK[step]
        manifest = read_manifest(below, iteration, name, shard)
        for each in manifest.objects:
            read_object(below, manifest, each)
        if name in {StepName.PLAN, StepName.SOLVE}:
            for each in manifest.objects:
                assert below.objects[keys.published(iteration, each)] == read_object(below, manifest, each)
        if EXHAUSTIVE or place in places[:1]:  # the rest of the run, which is the same for all
            go_on(below, step + 1)
            assert results(below) == expected


def test_a_finished_shard_removes_what_killed_attempts_left(tmp_path: Path) -> None:
    for store in (MemoryStore(), DirectoryStore(tmp_path / "run")):
        died = Attempt(store, 0, StepName.COLLECT, 0)
        died.write("part", b"half of it")
        if isinstance(store, DirectoryStore):
            folder = tmp_path / "run" / keys.shard_prefix(0, StepName.COLLECT, 0) / died.id
            (folder / ".part.0123456789ab").write_bytes(b"an unfinished write")
        manifest = Attempt(store, 0, StepName.COLLECT, 0).finish({})
        assert [*store.list("")] == [keys.manifest(0, StepName.COLLECT, 0)]
        assert manifest.attempt != died.id
    assert not folder.exists()


def test_a_done_shard_removes_what_its_attempt_left_that_died_after_the_manifest() -> None:
    store = MemoryStore()
    done = Attempt(store, 1, StepName.TRAIN, 0)
    done.write("result", b"its result")
    manifest = done.finish({})
    needed = [*store.list("")]
    prefix = keys.shard_prefix(1, StepName.TRAIN, 0)
    checkpoint = keys.attempt_object(1, StepName.TRAIN, 0, done.id, "checkpoint-00000001.safetensors")
    journal = f"{prefix}/{keys.JOURNAL_ENTRIES}/00000000.json"
    rest = [checkpoint, keys.checkpoint(1, StepName.TRAIN, 0), journal, f"{prefix}/{keys.EXCHANGE}/weights/one"]
    for key in rest:
        store.put(key, b"of no use any more")
    assert find_done(store, 1, StepName.TRAIN, 0, frozenset({keys.JOURNAL_ENTRIES})) == manifest
    assert [*store.list("")] == sorted([*needed, journal]), "what is kept stays"
    assert find_done(store, 1, StepName.TRAIN, 0) == manifest
    assert [*store.list("")] == needed


def test_a_training_whose_objects_another_attempt_removed_when_it_was_done_is_done(
    stages: list[dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was suspended meanwhile."""
    place = next(number for number, (_, step, _) in enumerate(WORK) if step is StepName.TRAIN)
    store, is_overtaken = MemoryStore(dict(stages[place])), [True]

    def lose_a_snapshot(*_: object) -> None:
        if is_overtaken:
            Attempt(store, 0, StepName.TRAIN, 0).finish({"updates": 7})
        raise NoObjectError("snapshot-00000001 does not exist")

    monkeypatch.setattr("nashdex.oracles.tabular.train_exact", lose_a_snapshot)
    assert step_function(StepName.TRAIN)(store, SETTINGS, 0, 0).counts == {"updates": 7}
    is_overtaken.clear()
    store.delete(keys.manifest(0, StepName.TRAIN, 0))
    with pytest.raises(NoObjectError, match="snapshot-00000001"):
        step_function(StepName.TRAIN)(store, SETTINGS, 0, 0)
