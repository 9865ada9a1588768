"""One try at a shard of a step: data under its own prefix, then the manifest, put if absent and last.

So a shard is done exactly when its manifest exists; a process may die at any instruction; and where two attempts
race, one wins and the other's objects are never read.
"""

import hashlib
import os
import time

import nashdex
from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import AttemptId, new_attempt_id
from nashdex.core.manifest import Manifest, StoredObject
from nashdex.core.steps import StepName
from nashdex.store.protocol import ObjectStore


class Attempt:
    """Writes the objects of one try and finishes it. Its clocks start when it is made."""

    def __init__(self, store: ObjectStore, iteration: int, step: StepName, shard: int) -> None:
        self._store = store
        self._iteration = iteration
        self._step = step
        self._shard = shard
        self._objects: dict[str, StoredObject] = {}
        self._began_seconds = time.monotonic()
        self._began_cpu_seconds = _cpu_seconds()
        self.id: AttemptId = new_attempt_id()

    def write(self, name: str, data: bytes) -> None:
        """Write one object of the attempt, such as ``part-00000.lz4``.

        Raises:
            ValueError: the attempt wrote that name before.
        """
        if name in self._objects:
            raise ValueError(f"attempt {self.id} wrote {name!r} before; objects are never rewritten")
        key = keys.attempt_object(self._iteration, self._step, self._shard, self.id, name)
        self._store.put(key, data)
        self._objects[name] = StoredObject(key=key, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))

    def finish(self, counts: dict[str, int]) -> Manifest:
        """Put the manifest if absent; return the one that is there now: the winner's, not always this attempt's."""
        manifest = Manifest(
            step=self._step,
            iteration=self._iteration,
            shard=self._shard,
            attempt=self.id,
            objects=dict(self._objects),
            counts=counts,
            seconds=time.monotonic() - self._began_seconds,
            cpu_seconds=max(0.0, _cpu_seconds() - self._began_cpu_seconds),
            nashdex_version=nashdex.__version__,
        )
        self._store.put_if_absent(keys.manifest(self._iteration, self._step, self._shard), manifest.to_json())
        return read_manifest(self._store, self._iteration, self._step, self._shard)


def find_manifest(store: ObjectStore, iteration: int, step: StepName, shard: int) -> Manifest | None:
    """Return a shard's manifest, or None while the shard is not done.

    Raises:
        DataError: what is there is no manifest of this shard.
    """
    key = keys.manifest(iteration, step, shard)
    if not store.exists(key):
        return None
    source = f"{store.uri}/{key}"
    manifest = Manifest.from_json(store.get(key), source)
    if (manifest.iteration, manifest.step, manifest.shard) != (iteration, step, shard):
        raise DataError(
            f"{source} speaks of {manifest.step}, iteration {manifest.iteration}, shard {manifest.shard}; it was moved "
            "or altered. Remove it and run the step again"
        )
    return manifest


def read_manifest(store: ObjectStore, iteration: int, step: StepName, shard: int) -> Manifest:
    """Return a shard's manifest.

    Raises:
        DataError: the shard is not done, or what is there is no manifest of it.
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
    """Return the object that ``manifest`` calls ``name``.

    Raises:
        DataError: it is not named, missing, or not what the attempt wrote (size or sha256 differ).
    """
    described = manifest.objects.get(name)
    where = keys.shard_prefix(manifest.iteration, manifest.step, manifest.shard)
    source = f"{store.uri}/{where}/manifest.json"
    if described is None:
        raise DataError(f"{source} names no object {name!r}; it names {sorted(manifest.objects)}")
    if not described.key.startswith(f"{where}/"):
        raise DataError(f"{source} leads outside its shard, to {described.key!r}; it was altered")
    data = store.get(described.key)
    remedy = f"it was altered or cut off. Remove {where}/manifest.json and run {manifest.step} again"
    if len(data) != described.size_bytes:
        raise DataError(f"{store.uri}/{described.key} has {len(data)} bytes, expected {described.size_bytes}: {remedy}")
    digest = hashlib.sha256(data).hexdigest()
    if digest != described.sha256:
        raise DataError(f"{store.uri}/{described.key} has sha256 {digest}, expected {described.sha256}: {remedy}")
    return data


def _cpu_seconds() -> float:
    """Return user and system time of this process and of its children that have ended, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
