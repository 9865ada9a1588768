"""What this process asked of its stores: requests and bytes. It belongs to the process, as its metrics do."""

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock

WRITING = frozenset({"put", "put_if_absent", "delete"})
"""Operations that change a store; the others read."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals since the process began."""

    requests: Counter[str] = field(default_factory=Counter)
    """Requests by operation. A list counts once, whatever its number of pages."""
    bytes_read: int = 0
    bytes_written: int = 0

    def since(self, before: "Usage") -> "Usage":
        """Return what was added after ``before``."""
        return Usage(
            self.requests - before.requests,
            self.bytes_read - before.bytes_read,
            self.bytes_written - before.bytes_written,
        )


_lock = Lock()
_total = Usage()
_charged = Usage()


def count(operation: str, size_bytes: int) -> None:
    """Add one operation that moved ``size_bytes``."""
    global _total  # noqa: PLW0603 - of the process
    with _lock:
        is_write = operation in WRITING
        _total = Usage(
            _total.requests + Counter({operation: 1}),
            _total.bytes_read + (0 if is_write else size_bytes),
            _total.bytes_written + (size_bytes if is_write else 0),
        )


def charge() -> Usage:
    """Return the usage since the last charge: by the attempt that ends now, and by the opening of its run."""
    global _charged
    with _lock:
        used, _charged = _total.since(_charged), _total
    return used


def total() -> Usage:
    """Return everything that this process asked of its stores so far."""
    with _lock:
        return _total
