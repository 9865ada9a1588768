"""An actor's view of what learners want."""

from nashdex.core.errors import DataError
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Request
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore


class Requests:
    """Reads the requests of an iteration's learners: one request to the store each, once a learner has asked."""

    def __init__(self, store: ObjectStore, iteration: int) -> None:
        self._store = store
        self._iteration = iteration
        self._read: dict[int, tuple[bytes, Request]] = {}

    def of(self, learner: int) -> Request | None:
        """Return what a learner wants; None before its first request, and after its last.

        Raises:
            DataError: the request is altered.
        """
        key = protocol.request_key(self._iteration, learner)
        if learner not in self._read and not self._store.exists(key):
            return None
        try:
            data = self._store.get(key, MAX_MANIFEST_BYTES)
        except DataError:
            if self._store.exists(key):
                raise
            return None
        if learner not in self._read or self._read[learner][0] != data:
            self._read[learner] = data, Request.from_json(data, f"{self._store.uri}/{key}")
        return self._read[learner][1]
