"""Documents as steps find them: published by an iteration, or written by a shard's winning attempt."""

from typing import TypeVar

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.manifest import Manifest
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore

D = TypeVar("D", bound=Document)


def read_published(store: ObjectStore, iteration: int, name: str, kind: type[D]) -> D:
    """Return the document that ``iteration`` published as ``name``, such as ``plan.json``.

    Raises:
        DataError: it is missing or no such document.
    """
    key = keys.published(iteration, name)
    return kind.from_json(store.get(key), f"{store.uri}/{key}")


def read_written(store: ObjectStore, manifest: Manifest, name: str, kind: type[D]) -> D:
    """Return the document that ``manifest`` calls ``name``, its checksum compared.

    Raises:
        DataError: it is missing, altered or no such document.
    """
    data = read_object(store, manifest, name)
    return kind.from_json(data, f"{store.uri}/{manifest.objects[name].key}")
