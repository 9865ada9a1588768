"""An actor's view of what learners want."""

from nashdex.core.errors import DataError
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Request
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore


class Requests:
    """Reads the requests of an iteration's learners: one conditional GET each, once a learner has asked."""

    def __init__(self, store: ObjectStore, iteration: int) -> None:
        self._store = store
        self._iteration = iteration
        self._read: dict[int, tuple[str, Request]] = {}
        """Last request by learner, with the tag of its object."""

    def of(self, learner: int) -> Request | None:
        """Return what a learner wants; None before its first request, and after its last.

        Raises:
            DataError: the request is altered.
        """
        key = protocol.request_key(self._iteration, learner)
        tag, request = self._read.get(learner, ("", None))
        if request is None and not self._store.exists(key):
            return None
        try:
            found = self._store.get_if_changed(key, tag, MAX_MANIFEST_BYTES)
        except DataError:
            if self._store.exists(key):
                raise
            return None
        if found is not None:
            data, tag = found
            request = Request.from_json(data, f"{self._store.uri}/{key}")
            self._read[learner] = tag, request
        return request
