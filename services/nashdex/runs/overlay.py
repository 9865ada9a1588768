"""A store over another one, for doing steps again without a trace: it reads from below and writes to memory."""

from collections.abc import Iterator

from nashdex.core.errors import NoObjectError
from nashdex.store.directory import if_changed
from nashdex.store.naming import check_key
from nashdex.store.protocol import ObjectStore


class OverlayStore:
    """An ObjectStore over ``below``, whose objects ``hidden`` seem to be missing. Nothing reaches ``below``."""

    def __init__(self, below: ObjectStore, hidden: frozenset[str] = frozenset()) -> None:
        self._below = below
        self._hidden = set(hidden)
        self._written: dict[str, bytes] = {}

    @property
    def uri(self) -> str:
        """The URI of the store below."""
        return self._below.uri

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object. Raises NoObjectError if there is none."""
        if key in self._written:
            return self._written[key]
        if key in self._hidden:
            raise NoObjectError(f"{self.uri}/{key} does not exist")
        return self._below.get(key, max_bytes)

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its tag; None if its tag is still ``tag``."""
        return if_changed(self.get(key, max_bytes), tag)

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""
        return check_key(key) in self._written or (key not in self._hidden and self._below.exists(key))

    def put(self, key: str, data: bytes) -> None:
        """Keep an object in memory."""
        self._written[check_key(key)] = data

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Keep an object in memory unless there is one."""
        if self.exists(key):
            return False
        self.put(key, data)
        return True

    def delete(self, key: str) -> None:
        """Hide an object."""
        self._written.pop(key, None)
        self._hidden.add(key)

    def delete_folder(self, folder: str) -> None:
        """Do nothing: leftovers of attempts are not this store's."""

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""
        below = {key for key in self._below.list(prefix) if key not in self._hidden}
        yield from sorted(below | {key for key in self._written if key.startswith(prefix)})

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key with several, of the store below."""
        yield from self._below.folders()

    def at(self, prefix: str) -> "OverlayStore":
        """Return an overlay of the store below at ``prefix``, without what was written here."""
        return OverlayStore(self._below.at(prefix))
