"""Tries a store before work whose result it gets: writes, reads, lists and deletes an object."""

import secrets
from typing import Final

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.store.protocol import ObjectStore

_PREFIX: Final = "nashdex-check-"  # no folder, which would stay in a directory
_CONTENT_BYTES: Final = 32


def try_store(store: ObjectStore) -> str:
    """Write, read, list and delete an object with a random name; return its key.

    Raises:
        ConfigurationError: the bucket or a permission is missing, or the server ignores conditional writes.
        DataError: the store does not return what was written.
        TryAgainError: the store does not respond.
    """
    key, content = f"{_PREFIX}{secrets.token_hex(8)}", secrets.token_bytes(_CONTENT_BYTES)
    if store.exists(key):  # first, because HEAD returns no body, so its errors cannot be explained
        raise DataError(f"{store.uri}: {key} exists before it is written; check what else writes to this store")
    store.put(key, content)
    if store.put_if_absent(key, b"other"):
        raise ConfigurationError(
            f"{store.uri}: the server ignores If-None-Match, which nashdex needs; choose another server"
        )
    if store.get(key) != content or list(store.list(key)) != [key]:
        raise DataError(f"{store.uri}: the content read from {key} differs from what was written; check the server")
    store.delete(key)
    return key
