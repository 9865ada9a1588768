"""What nashdex needs of a store. This protocol is the whole of that surface."""

from collections.abc import Iterator
from typing import Protocol


class ObjectStore(Protocol):
    """Objects under keys, below one URI. Keys are relative, with forward slashes.

    Every method raises TryAgainError if the store cannot be reached, and ConfigurationError if it refuses the
    credentials or if the bucket or directory does not exist. Writes are atomic.
    """

    @property
    def uri(self) -> str:
        """The URI that the keys are relative to."""

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object. Raises NoObjectError if there is none, DataError if it is larger: it is not read whole."""

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its tag; None if its tag is still ``tag``, and then a bucket sends no body.

        Equal tags mean equal bytes. Only the store that gave a tag understands it; "" is the tag of no object. Raises
        what ``get`` does.
        """

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one; return whether this call wrote it."""

    def delete(self, key: str) -> None:
        """Remove an object; one that does not exist is no error."""

    def delete_folder(self, folder: str) -> None:
        """Remove every object whose key begins with ``folder`` and a slash, and the remains of unfinished writes."""

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key with several, once each and in order. Lists nothing below them."""

    def at(self, prefix: str) -> "ObjectStore":
        """Return the same store rooted at ``prefix``."""
