"""A store that fails at one operation, in one way, as networks and disks do."""

from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

from nashdex.core.errors import TryAgainError
from nashdex.store.directory import if_changed
from nashdex.store.protocol import ObjectStore

Fault = Literal["before", "after", "truncated", "stale list"]
"""Fail before the operation; do it and lose its answer; read too few bytes; list nothing of what was written."""
T = TypeVar("T")


class FaultyStore:
    """An ObjectStore over ``store`` whose operation number ``at`` (from 0) fails as ``fault`` says."""

    def __init__(self, store: ObjectStore, at: int, fault: Fault) -> None:
        self._store = store
        self._at = at
        self._fault = fault
        self.operations: list[str] = []

    @property
    def uri(self) -> str:
        """The URI of the store below."""
        return self._store.uri

    def _do(self, name: str, operation: Callable[[], T]) -> T:
        self.operations.append(name)
        is_due = len(self.operations) - 1 == self._at
        if is_due and self._fault == "before":
            raise TryAgainError(f"{name} failed, by order of the test")
        result = operation()
        if is_due and self._fault == "after":
            raise TryAgainError(f"the answer to {name} was lost, by order of the test")
        if is_due and self._fault == "truncated" and isinstance(result, bytes):
            return result[: len(result) // 2]  # type: ignore[return-value]
        if is_due and self._fault == "stale list" and isinstance(result, list):
            return []  # type: ignore[return-value]
        return result

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object."""
        return self._do("get", lambda: self._store.get(key, max_bytes))

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its tag, unless that is ``tag``. It is truncated as any other answer."""
        data = self._do("get", lambda: self._store.get(key, max_bytes))
        return if_changed(data, tag)

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""
        return self._do("exists", lambda: self._store.exists(key))

    def put(self, key: str, data: bytes) -> None:
        """Write an object."""
        self._do("put", lambda: self._store.put(key, data))

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one."""
        return self._do("put_if_absent", lambda: self._store.put_if_absent(key, data))

    def delete(self, key: str) -> None:
        """Remove an object."""
        self._do("delete", lambda: self._store.delete(key))

    def delete_folder(self, folder: str) -> None:
        """Remove every object in a folder."""
        self._do("delete", lambda: self._store.delete_folder(folder))

    def list(self, prefix: str) -> Iterator[str]:
        """Yield keys."""
        yield from self._do("list", lambda: [*self._store.list(prefix)])

    def folders(self) -> Iterator[str]:
        """Yield folders."""
        yield from self._do("list", lambda: [*self._store.folders()])

    def at(self, prefix: str) -> "FaultyStore":
        """Return the same store at a prefix; its operations count with these."""
        below = FaultyStore(self._store.at(prefix), self._at, self._fault)
        below.operations = self.operations
        return below
