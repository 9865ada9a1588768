"""A store that reports the cost of each operation to an observer."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.store.protocol import ObjectStore
from nashdex.store.usage import count

Observer = Callable[[str, float, int, bool], None]
"""Takes an operation's name, its seconds, the bytes it moved, and whether the store failed.

A missing object is not a failure."""


class ObservedStore:
    """An ObjectStore that forwards every call and reports it."""

    def __init__(self, store: ObjectStore, observe: Observer) -> None:
        self._store = store
        self._observe = observe

    @property
    def uri(self) -> str:
        """The URI that the keys are relative to."""
        return self._store.uri

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object of at most ``max_bytes``."""
        with self._timed("get") as moved:
            data = self._store.get(key, max_bytes)
            moved.size_bytes = len(data)
        return data

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its tag; None if its tag is still ``tag``. It counts as a get, of no bytes then."""
        with self._timed("get") as moved:
            found = self._store.get_if_changed(key, tag, max_bytes)
            moved.size_bytes = len(found[0]) if found else 0
        return found

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""
        with self._timed("exists"):
            return self._store.exists(key)

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        with self._timed("put") as moved:
            self._store.put(key, data)
            moved.size_bytes = len(data)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one; return whether this call wrote it."""
        with self._timed("put_if_absent") as moved:
            written = self._store.put_if_absent(key, data)
            moved.size_bytes = len(data) if written else 0
        return written

    def delete(self, key: str) -> None:
        """Remove an object."""
        with self._timed("delete"):
            self._store.delete(key)

    def delete_folder(self, folder: str) -> None:
        """Remove every object in a folder."""
        with self._timed("delete"):
            self._store.delete_folder(folder)

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""
        with self._timed("list"):
            found = tuple(self._store.list(prefix))
        yield from found

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key that has several, once each and in order."""
        with self._timed("list"):
            found = tuple(self._store.folders())
        yield from found

    def at(self, prefix: str) -> "ObservedStore":
        """Return the same store rooted at ``prefix``."""
        return ObservedStore(self._store.at(prefix), self._observe)

    @contextmanager
    def _timed(self, operation: str) -> Iterator["_Moved"]:
        began_seconds = time.monotonic()
        moved, failed = _Moved(), False
        try:
            yield moved
        except (TryAgainError, ConfigurationError):
            failed = True
            raise
        finally:
            self._observe(operation, time.monotonic() - began_seconds, moved.size_bytes, failed)
            count(operation, moved.size_bytes)


@dataclass(slots=True)
class _Moved:
    size_bytes: int = 0
