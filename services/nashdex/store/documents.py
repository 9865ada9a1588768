"""Reading documents: those that an iteration published, and those that a shard's winning attempt wrote."""

from typing import TypeVar

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.store.attempt import read_manifest, read_object
from nashdex.store.protocol import ObjectStore

D = TypeVar("D", bound=Document)


def read_published(store: ObjectStore, iteration: int, name: str, kind: type[D]) -> D:
    """Return the document that ``iteration`` published as ``name``, such as ``plan.json``.

    Raises:
        DataError: it is missing or not such a document.
    """
    key = keys.published(iteration, name)
    return kind.from_json(store.get(key), f"{store.uri}/{key}")


def read_written(store: ObjectStore, manifest: Manifest, name: str, kind: type[D]) -> D:
    """Return the document ``name`` of ``manifest``, after checking its checksum.

    Raises:
        DataError: it is missing, altered or not such a document.
    """
    data = read_object(store, manifest, name)
    return kind.from_json(data, f"{store.uri}/{manifest.objects[name].key}")


def read_from_shards(
    store: ObjectStore, iteration: int, step: StepName, num_shards: int, name: str, kind: type[D]
) -> list[D]:
    """Return the document that every shard of ``step`` wrote as ``name``, in the order of shards.

    Raises:
        DataError: a shard is not done, or its document is missing, altered or not such a document.
    """
    manifests = [read_manifest(store, iteration, step, shard) for shard in range(num_shards)]
    return [read_written(store, manifest, name, kind) for manifest in manifests]
