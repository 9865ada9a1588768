"""Which keys are allowed, and how a store's URI is parsed."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.references import ZOO

# A segment never starts with a dot: this excludes '.' and '..', and reserves such names for temporary files.
# 200 bytes leave room for a temporary file's suffix below the 255 bytes that file systems allow.
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+@-]{0,199}")
_MAX_KEY_BYTES = 900
_ZOO = Path(__file__).parents[1] / "zoo" / "entries"
"""Folder of the package that holds the zoo's policies."""
_EXPECTED = "expected segments of letters, digits and '_.=+@-' that do not start with '.', joined by '/'"


def check_key(key: str) -> str:
    """Return ``key``.

    Raises:
        ConfigurationError: a store cannot hold it, or it could point outside the store.
    """
    if len(key) > _MAX_KEY_BYTES or not all(_SEGMENT.fullmatch(segment) for segment in key.split("/")):
        raise ConfigurationError(f"{key!r} is not a usable key: {_EXPECTED}, at most {_MAX_KEY_BYTES} characters")
    return key


def check_prefix(prefix: str) -> str:
    """Return ``prefix``: the start of a key, possibly empty, possibly ending within a segment.

    Raises:
        ConfigurationError: no key can start with it.
    """
    *whole, last = prefix.split("/")
    if not all(_SEGMENT.fullmatch(segment) for segment in whole) or (last and not _SEGMENT.fullmatch(last)):
        raise ConfigurationError(f"{prefix!r} cannot start a usable key: {_EXPECTED}")
    return prefix


def too_large(source: str, size_bytes: int, max_bytes: int) -> DataError:
    """Return the error of an object that is larger than its description says."""
    return DataError(f"{source} has {size_bytes} bytes, expected {max_bytes} at most: it was altered")


@dataclass(frozen=True, slots=True)
class Bucket:
    """A place in S3."""

    name: str
    prefix: str
    """Without slashes at its ends; empty for the bucket itself."""


def parse_uri(uri: str) -> Path | Bucket:
    """Return where ``uri`` points: a path or ``file://`` to a directory, ``s3://bucket/prefix`` to a bucket.

    ``zoo:`` is the directory of the policies that nashdex comes with.

    Raises:
        ConfigurationError: it is neither.
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):/", uri)
    if not uri:
        raise ConfigurationError("the store's URI is empty: expected a path, file:///path or s3://bucket/prefix")
    if uri == ZOO:
        return _ZOO
    if scheme is None:
        return Path(uri).expanduser()
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in {"", "localhost"} and parts.path:
        return Path(unquote(parts.path))
    if parts.scheme == "s3" and uri.startswith("s3://") and not parts.query and not parts.fragment:
        prefix = parts.path.strip("/")
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", parts.netloc):
            raise ConfigurationError(
                f"{uri!r} has no usable bucket name: expected 3 to 63 lower-case letters, digits, '.' and '-'"
            )
        return Bucket(parts.netloc, check_key(prefix) if prefix else "")
    raise ConfigurationError(f"{uri!r} is not a store: expected a path, file:///path or s3://bucket/prefix")
