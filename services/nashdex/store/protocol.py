"""What every step may ask of a store. This is the whole of the surface: nothing else is ever asked."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol


class ObjectStore(Protocol):
    """Objects under keys, below one URI. Keys are relative, with forward slashes.

    Every method raises TryAgainError when the store cannot be reached and ConfigurationError when it refuses the
    credentials or the bucket or directory does not exist. A write is whole or it did not happen.
    """

    @property
    def uri(self) -> str:
        """The URI that the keys are relative to."""

    def get(self, key: str) -> bytes:
        """Return an object. Raises DataError when there is none."""

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one; return whether this call wrote it."""

    def delete(self, key: str) -> None:
        """Remove an object; one that does not exist is no error."""

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key that has several, once each and in order. Lists nothing below them."""

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Open an object for streaming. Raises DataError when there is none."""

    def at(self, prefix: str) -> "ObjectStore":
        """Return the same store rooted at ``prefix``."""
