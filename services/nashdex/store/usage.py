"""What this process asked of its stores: requests and bytes. It belongs to the process, as its metrics do."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.store.protocol import ObjectStore

WRITING = frozenset({"put", "put_if_absent", "delete"})
"""Operations that change a store; the others read."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals since the process began."""

    requests: Counter[str] = field(default_factory=Counter)
    """Requests by operation. A list counts once, whatever its number of pages."""
    bytes_read: int = 0
    bytes_written: int = 0

    def since(self, before: "Usage") -> "Usage":
        """Return what was added after ``before``."""
        return Usage(
            self.requests - before.requests,
            self.bytes_read - before.bytes_read,
            self.bytes_written - before.bytes_written,
        )


_lock = Lock()
_total = Usage()
_charged = Usage()


def count(operation: str, size_bytes: int) -> None:
    """Add one operation that moved ``size_bytes``."""
    global _total  # noqa: PLW0603 - of the process
    with _lock:
        is_write = operation in WRITING
        _total = Usage(
            _total.requests + Counter({operation: 1}),
            _total.bytes_read + (0 if is_write else size_bytes),
            _total.bytes_written + (size_bytes if is_write else 0),
        )


def charge() -> Usage:
    """Return the usage since the last charge: by the attempt that ends now, and by the opening of its run."""
    global _charged
    with _lock:
        used, _charged = _total.since(_charged), _total
    return used


def total() -> Usage:
    """Return everything that this process asked of its stores so far."""
    with _lock:
        return _total


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
