"""One attempt at a shard of a step: data under the attempt's own prefix, then the manifest, last and put if absent.

So a shard is done exactly when its manifest exists, a process may die at any instruction, and if two attempts race,
one wins and the objects of the other are never read.
"""

import os
import time
from contextlib import suppress

import nashdex
from nashdex.core import keys
from nashdex.core.errors import DataError, NashdexError
from nashdex.core.ids import AttemptId, new_attempt_id
from nashdex.core.manifest import Manifest, StoredObject
from nashdex.core.steps import StepName
from nashdex.core.user_input import shorten
from nashdex.core.work import present_work
from nashdex.store.checked import MAX_MANIFEST_BYTES, find_object, read_described
from nashdex.store.protocol import ObjectStore
from nashdex.store.usage import charge


class Attempt:
    """Writes the objects of one attempt and finishes it. Its clocks start on construction."""

    def __init__(self, store: ObjectStore, iteration: int, step: StepName, shard: int) -> None:
        self._store = store
        self._iteration = iteration
        self._step = step
        self._shard = shard
        self._objects: dict[str, StoredObject] = {}
        self._began_seconds = time.monotonic()
        self._began_cpu_seconds = _cpu_seconds()
        work = present_work()
        self.id: AttemptId = new_attempt_id() if work is None else work.attempt

    @property
    def cpu_seconds(self) -> float:
        """CPU time so far of this process and of its finished children."""
        return max(0.0, _cpu_seconds() - self._began_cpu_seconds)

    def write(self, name: str, data: bytes) -> None:
        """Write one object of the attempt, such as ``part-00000.lz4``.

        Raises:
            ValueError: the attempt has already written this name.
        """
        if name in self._objects:
            raise ValueError(f"attempt {self.id} has already written {name!r}; objects are never rewritten")
        key = keys.attempt_object(self._iteration, self._step, self._shard, self.id, name)
        self._store.put(key, data)
        self._objects[name] = StoredObject.of(key, data)

    def publish(self, name: str, data: bytes) -> None:
        """Write one object of the attempt, and a copy of it where people look: at the iteration's top.

        Attempts that race publish the same bytes, because a document follows from seeds and inputs.
        """
        self.write(name, data)
        self._store.put(keys.published(self._iteration, name), data)

    def finish(self, counts: dict[str, int], *, num_gpus: int = 0, keeps: frozenset[str] = frozenset()) -> Manifest:
        """Put the manifest if absent; return the stored one, from the attempt that won the race.

        ``num_gpus`` counts the GPUs held during the whole attempt. Of the shard, what the manifest names and the
        folders ``keeps`` stay; the rest is removed.
        """
        seconds = time.monotonic() - self._began_seconds
        used = charge()
        manifest = Manifest(
            step=self._step,
            iteration=self._iteration,
            shard=self._shard,
            attempt=self.id,
            objects=dict(self._objects),
            counts=counts,
            seconds=seconds,
            cpu_seconds=self.cpu_seconds,
            gpu_seconds=num_gpus * seconds,
            store_requests=dict(used.requests),
            store_bytes_read=used.bytes_read,
            store_bytes_written=used.bytes_written,
            nashdex_version=nashdex.__version__,
        )
        self._store.put_if_absent(keys.manifest(self._iteration, self._step, self._shard), manifest.to_json())
        stored = read_manifest(self._store, self._iteration, self._step, self._shard)
        _remove_rest(self._store, stored, keeps)
        return stored


def find_done(
    store: ObjectStore, iteration: int, step: StepName, shard: int, keeps: frozenset[str] = frozenset()
) -> Manifest | None:
    """Return the manifest of a shard that is done, or None. Remove the rest of it, which a killed attempt may leave.

    Raises:
        DataError: the stored object is not this shard's manifest.
    """
    manifest = find_manifest(store, iteration, step, shard)
    if manifest is not None:
        _remove_rest(store, manifest, keeps)
    return manifest


def _remove_rest(store: ObjectStore, manifest: Manifest, keeps: frozenset[str]) -> None:
    """Remove what a done shard's manifest does not name: other attempts, checkpoints, the exchange with actors.

    An attempt that lost a race and still runs fails, and its retry is done.
    """
    needed = {stored.key for stored in manifest.objects.values()}
    needed.add(keys.manifest(manifest.iteration, manifest.step, manifest.shard))
    prefix = keys.shard_prefix(manifest.iteration, manifest.step, manifest.shard)
    shard = store.at(prefix)
    with suppress(NashdexError):  # the shard is done; what is left does no harm
        for folder in [*shard.folders()]:
            if folder not in keeps | {manifest.attempt}:
                shard.delete_folder(folder)
        for key in [*store.list(f"{prefix}/")]:
            if key not in needed and key.removeprefix(f"{prefix}/").partition("/")[0] not in keeps:
                store.delete(key)


def find_manifest(store: ObjectStore, iteration: int, step: StepName, shard: int) -> Manifest | None:
    """Return a shard's manifest, or None while the shard is not done.

    Raises:
        DataError: the stored object is not this shard's manifest.
    """
    key = keys.manifest(iteration, step, shard)
    data = find_object(store, key, MAX_MANIFEST_BYTES)
    if data is None:
        return None
    source = f"{store.uri}/{key}"
    manifest = Manifest.from_json(data, source)
    if (manifest.iteration, manifest.step, manifest.shard) != (iteration, step, shard):
        raise DataError(
            f"{source} describes {manifest.step}, iteration {manifest.iteration}, shard {manifest.shard}; it was moved "
            "or altered. Remove it and run the step again"
        )
    return manifest


def read_manifest(store: ObjectStore, iteration: int, step: StepName, shard: int) -> Manifest:
    """Return a shard's manifest.

    Raises:
        DataError: the shard is not done, or the stored object is not its manifest.
    """
    manifest = find_manifest(store, iteration, step, shard)
    if manifest is None:
        raise DataError(
            f"{store.uri}: {step} has not finished shard {shard} of iteration {iteration}; first run "
            f"'nashdex step {step} --run {store.uri} --iteration {iteration} --shard {shard}'"
        )
    return manifest


def newest_manifest(store: ObjectStore, step: StepName) -> Manifest | None:
    """Return the first shard's manifest of the newest iteration that finished ``step``, or None if none has."""
    newest, iteration = None, 0
    while manifest := find_manifest(store, iteration, step, 0):
        newest, iteration = manifest, iteration + 1
    return newest


def read_object(store: ObjectStore, manifest: Manifest, name: str) -> bytes:
    """Return the object ``name`` of ``manifest``.

    Raises:
        DataError: the manifest has no such name, or the object is missing or altered (size or sha256 differ).
    """
    described = manifest.objects.get(name)
    where = keys.shard_prefix(manifest.iteration, manifest.step, manifest.shard)
    source = f"{store.uri}/{where}/manifest.json"
    if described is None:
        raise DataError(
            f"{source} has no object {name!r}; it has {shorten(sorted(manifest.objects))}. Another version of nashdex "
            "wrote it: read the run with that version, or begin another"
        )
    if not described.key.startswith(f"{where}/"):
        raise DataError(f"{source} points outside its shard, to {described.key!r}; it was altered")
    remedy = f"Remove {where}/manifest.json and run {manifest.step} again"
    return read_described(store, described, remedy)


def _cpu_seconds() -> float:
    """Return the user and system time of this process and of its finished children, in seconds.

    The children's time has steps of .01 s. That is too rough for this process: a whole step may take less.
    """
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
