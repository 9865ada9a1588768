"""Writes, reads and deletes an object where runs go: the URI in sys.argv[1], as every step finds it."""

import secrets
import sys

from nashdex.core.errors import ConfigurationError, DataError, NashdexError
from nashdex.store import open_store


def check(uri: str) -> str:
    """Return the key that was written, read and deleted."""
    store, key, content = open_store(uri), f"helm-test/{secrets.token_hex(8)}", secrets.token_bytes(32)
    if store.exists(key):  # the first thing that a step asks: its answer has no body, so nothing can mend it
        raise DataError(f"{uri}: {key} is there before it was written")
    store.put(key, content)
    if store.put_if_absent(key, b"other"):
        raise ConfigurationError(f"{uri}: the server ignores If-None-Match, on which nashdex relies; choose another")
    if store.get(key) != content or list(store.list(key)) != [key]:
        raise DataError(f"{uri}: what is read from {key} is not what was written there")
    store.delete(key)
    return key


def main() -> int:
    """Return the exit status: an error's own, which says what to do."""
    uri = sys.argv[1]
    try:
        sys.stdout.write(f"{uri}: wrote, read and deleted {check(uri)}\n")
    except NashdexError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
