"""Trying a store with all that steps ask of one, before anything depends on it."""

import secrets

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.store.protocol import ObjectStore

_FOLDER = "nashdex-check"
_CONTENT_BYTES = 32


def try_store(store: ObjectStore) -> str:
    """Write, read, list and delete an object of a name of its own; return its key.

    Raises:
        ConfigurationError: the bucket or a right is missing, or the server ignores conditions of a write.
        DataError: the store does not give back what it was given.
        TryAgainError: it does not answer.
    """
    key, content = f"{_FOLDER}/{secrets.token_hex(8)}", secrets.token_bytes(_CONTENT_BYTES)
    if store.exists(key):  # the first thing that a step asks: its answer has no body, so nothing can mend it
        raise DataError(f"{store.uri}: {key} is there before it was written")
    store.put(key, content)
    if store.put_if_absent(key, b"other"):
        raise ConfigurationError(
            f"{store.uri}: the server ignores If-None-Match, on which nashdex relies; choose another"
        )
    if store.get(key) != content or list(store.list(key)) != [key]:
        raise DataError(f"{store.uri}: what is read from {key} is not what was written there")
    store.delete(key)
    return key
