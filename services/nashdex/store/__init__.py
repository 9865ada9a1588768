"""Objects under keys: a directory or an S3 bucket behind one protocol.

Knows nothing about the meaning of the objects, and imports boto3 only for an S3 URI.
"""

from pkgutil import resolve_name
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.core.references import ZOO
from nashdex.store.directory import DirectoryStore
from nashdex.store.naming import Bucket, parse_uri
from nashdex.store.protocol import ObjectStore
from nashdex.store.usage import ObservedStore, Observer

__all__ = ["ObjectStore", "Observer", "open_own_store", "open_store"]

_S3_STORE: Final = "nashdex.store.s3:S3Store"
"""Named, since boto3 takes a moment to import."""


def open_store(uri: str, observe: Observer | None = None) -> ObjectStore:
    """Return the store at ``uri``: a path, ``file:///path`` or ``s3://bucket/prefix``. Does not access it yet.

    ``observe`` is called with the cost of each operation.

    Raises:
        ConfigurationError: the URI or the S3 client's configuration is wrong.
    """
    place = parse_uri(uri)
    store: ObjectStore
    if isinstance(place, Bucket):
        store = resolve_name(_S3_STORE)(place.name, place.prefix)
    else:
        store = DirectoryStore(place, ZOO if uri == ZOO else None)
    return ObservedStore(store, observe) if observe else store


def open_own_store(uri: str) -> ObjectStore:
    """Return the store at ``uri``, where a user writes: not nashdex's own zoo.

    Raises:
        ConfigurationError: it is the zoo, or as for ``open_store``.
    """
    if uri == ZOO:
        raise ConfigurationError(f"{ZOO} holds the policies that nashdex comes with; name another store")
    return open_store(uri)
