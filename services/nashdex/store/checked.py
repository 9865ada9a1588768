"""Reading an object of known hash, and the manifest at a run's root with the names of config, teams and payoffs."""

import hashlib
from collections.abc import Mapping

from nashdex.core import keys
from nashdex.core.errors import DataError, NoObjectError
from nashdex.core.manifest import RunManifest, StoredObject
from nashdex.store.protocol import ObjectStore

MAX_MANIFEST_BYTES = 16 << 20
"""A shard has some hundred objects at most, of 200 bytes each in its manifest."""


def find_object(store: ObjectStore, key: str, max_bytes: int | None = None) -> bytes | None:
    """Return an object by one request; None if there is none.

    Raises:
        DataError: it is larger than ``max_bytes``.
    """
    try:
        return store.get(key, max_bytes)
    except NoObjectError:
        return None


def put_first(store: ObjectStore, key: str, data: bytes) -> bool:
    """Write an object, unless another writer was first; return whether it is there. At most ``MAX_MANIFEST_BYTES``.

    A store repeats a write whose answer was lost, and then finds the object of the same writer.

    Raises:
        DataError: another writer's object is larger.
    """
    return store.put_if_absent(key, data) or find_object(store, key, MAX_MANIFEST_BYTES) == data


def read_described(store: ObjectStore, described: StoredObject, remedy: str) -> bytes:
    """Return an object that a manifest describes. ``remedy`` is a sentence for errors: what to do.

    Raises:
        DataError: the object is missing or altered (size or sha256 differ).
    """
    return read_hashed(store, described.key, described.sha256, described.size_bytes, remedy=remedy)


def read_hashed(
    store: ObjectStore, key: str, sha256: str, max_bytes: int | None = None, *, remedy: str = "Restore it"
) -> bytes:
    """Return an object with a known hash. ``remedy`` is a sentence for errors: what to do.

    Raises:
        DataError: the object is missing, larger than ``max_bytes``, or it was altered.
    """
    data = store.get(key, max_bytes)
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise DataError(
            f"{store.uri}/{key} has sha256 {digest}, expected {sha256}: it was altered or truncated. {remedy}"
        )
    return data


def write_root(store: ObjectStore, objects: Mapping[str, bytes]) -> None:
    """Write the manifest at the run's root, unless it is there. ``objects`` is what it names: content by key."""
    described = {key: StoredObject.of(key, data) for key, data in objects.items()}
    store.put_if_absent(keys.RUN_MANIFEST, RunManifest(objects=described).to_json())


def read_root(store: ObjectStore, name: str) -> bytes:
    """Return an object that the run's manifest names, such as ``config.json``.

    Raises:
        DataError: the run's manifest or the object is missing or altered.
    """
    source = f"{store.uri}/{keys.RUN_MANIFEST}"
    data = find_object(store, keys.RUN_MANIFEST, MAX_MANIFEST_BYTES)
    if data is None:
        raise DataError(f"{source} does not exist: the run was not created to its end; run `nashdex run` again")
    manifest = RunManifest.from_json(data, source)
    described = manifest.objects.get(name)
    if described is None or described.key != name:
        raise DataError(f"{source} names no {name}; it names {', '.join(sorted(manifest.objects))}")
    return read_described(store, described, "Restore it, or begin the run again under another id")
