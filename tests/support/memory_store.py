"""A store in memory, quick enough for a thousand small runs."""

from collections.abc import Iterator

from nashdex.core.errors import NoObjectError
from nashdex.store.directory import if_changed
from nashdex.store.naming import check_key, too_large


class MemoryStore:
    """An ObjectStore in a dictionary."""

    def __init__(self, objects: dict[str, bytes] | None = None, prefix: str = "") -> None:
        self.objects = {} if objects is None else objects
        self._prefix = prefix

    @property
    def uri(self) -> str:
        """A name for messages."""
        return f"memory:/{self._prefix}"

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object."""
        data = self.objects.get(self._prefix + check_key(key))
        if data is None:
            raise NoObjectError(f"{self.uri}/{key} does not exist")
        if max_bytes is not None and len(data) > max_bytes:
            raise too_large(f"{self.uri}/{key}", len(data), max_bytes)
        return data

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its tag, unless that is ``tag``."""
        return if_changed(self.get(key, max_bytes), tag)

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""
        return self._prefix + check_key(key) in self.objects

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        self.objects[self._prefix + check_key(key)] = bytes(data)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one."""
        if self.exists(key):
            return False
        self.put(key, data)
        return True

    def delete(self, key: str) -> None:
        """Remove an object."""
        self.objects.pop(self._prefix + check_key(key), None)

    def delete_folder(self, folder: str) -> None:
        """Remove every object in a folder."""
        for key in [*self.list(f"{check_key(folder)}/")]:
            self.delete(key)

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""
        start = self._prefix + prefix
        yield from sorted(key.removeprefix(self._prefix) for key in self.objects if key.startswith(start))

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key with several."""
        keys = (key.removeprefix(self._prefix) for key in self.objects if key.startswith(self._prefix))
        yield from sorted({key.split("/")[0] for key in keys if "/" in key})

    def at(self, prefix: str) -> "MemoryStore":
        """Return the same store rooted at ``prefix``."""
        return MemoryStore(self.objects, f"{self._prefix}{check_key(prefix)}/")
