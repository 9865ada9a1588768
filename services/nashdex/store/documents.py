"""Reading the documents published by an iteration, and the documents of a shard's winning attempt."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.store.attempt import read_manifest, read_object
from nashdex.store.checked import find_object
from nashdex.store.protocol import ObjectStore

D_co = TypeVar("D_co", covariant=True)


class Readable(Protocol[D_co]):
    """A class of documents. It may be abstract; parsing then returns an instance of a subclass."""

    def from_json(self, data: bytes, source: str, /) -> D_co:
        """Parse ``data``; ``source`` names it in errors."""


class _OfPolicy(Protocol):
    @property
    def policy(self) -> str: ...


P = TypeVar("P", bound=_OfPolicy)
T = TypeVar("T")
_MAX_BYTES: Final = 1 << 22


def read_beside_policy(
    store: ObjectStore, key: str, policy: str, kind: Readable[P], *, holds: str, remedy: str
) -> P | None:
    """Return the document ``key`` about a stored policy, such as its card; None if there is none.

    The error of a document of another policy uses ``holds``, such as ``is the card of``, and the advice ``remedy``.

    Raises:
        DataError: it is wrong, or is another policy's.
    """
    data = find_object(store, key, _MAX_BYTES)
    if data is None:
        return None
    source = f"{store.uri}/{key}"
    found = kind.from_json(data, source)
    if found.policy != policy:
        raise DataError(f"{source} {holds} {found.policy}; {remedy}")
    return found


def read_published(store: ObjectStore, iteration: int, name: str, kind: Readable[D_co]) -> D_co:
    """Return the document that ``iteration`` published as ``name``, such as ``plan.json``.

    It is read through the manifest of the step that published it, never from the copy for people.

    Raises:
        DataError: the step is not done, or the document is missing, altered or not such a document.
    """
    return read_written(store, read_manifest(store, iteration, keys.PUBLISHED_BY[name], 0), name, kind)


def read_written(store: ObjectStore, manifest: Manifest, name: str, kind: Readable[D_co]) -> D_co:
    """Return the document ``name`` of ``manifest``, after checking its checksum.

    Raises:
        DataError: it is missing, altered or not such a document.
    """
    return read_decoded(store, manifest, name, kind.from_json)


def read_decoded(store: ObjectStore, manifest: Manifest, name: str, decode: Callable[[bytes, str], T]) -> T:
    """Return what ``decode`` makes of the object ``name`` of ``manifest`` and its URI, after checking its checksum.

    Raises:
        DataError: it is missing or altered, or ``decode`` refuses it.
    """
    data = read_object(store, manifest, name)
    return decode(data, f"{store.uri}/{manifest.objects[name].key}")


def read_from_shards(
    store: ObjectStore, iteration: int, step: StepName, num_shards: int, name: str, kind: Readable[D_co]
) -> list[D_co]:
    """Return the document that every shard of ``step`` wrote as ``name``, in the order of shards.

    Raises:
        DataError: a shard is not done, or its document is missing, altered or not such a document.
    """
    return decoded_from_shards(store, iteration, step, num_shards, name, kind.from_json)


def decoded_from_shards(
    store: ObjectStore, iteration: int, step: StepName, num_shards: int, name: str, decode: Callable[[bytes, str], T]
) -> list[T]:
    """Return ``read_decoded`` of the object that every shard of ``step`` wrote as ``name``, in the order of shards.

    Raises:
        DataError: a shard is not done, or as ``read_decoded``.
    """
    manifests = [read_manifest(store, iteration, step, shard) for shard in range(num_shards)]
    return [read_decoded(store, manifest, name, decode) for manifest in manifests]
