"""``published.json``: names that a folder of policies has given for good, as the zoo has. A name keeps its weights."""

from typing import Final

from pydantic import Field

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.ids import BarePolicyIdField
from nashdex.store.protocol import ObjectStore

_MAX_BYTES: Final = 1 << 20


class Published(Document):
    """The published policies of a store."""

    policies: dict[str, BarePolicyIdField] = Field(
        default_factory=dict, description="Ids by name. An id is the hash of weights, sizes and space."
    )


def read_published_names(store: ObjectStore) -> Published:
    """Return the names that ``store`` has published; none where it has no such document.

    Raises:
        DataError: the document is wrong.
    """
    if not store.exists(keys.PUBLISHED):
        return Published()
    return Published.from_json(store.get(keys.PUBLISHED, _MAX_BYTES), f"{store.uri}/{keys.PUBLISHED}")
