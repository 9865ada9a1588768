"""Frames over two file descriptors (docs/reference/gateway.md), without a deadlock between the two directions.

Each side stops reading while its output is full, so a writer that does not read could block forever. Sending
therefore also receives.
"""

import os
import select
import struct
import time
from collections import deque
from collections.abc import Sequence
from enum import IntEnum

from nashdex.core.errors import TryAgainError

HEADER = struct.Struct("<IB3x")
MAX_FRAME_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1 << 18
"""Most bytes of a closing gateway's output that one call reads and drops."""
_AHEAD_BYTES = 1 << 14
"""Most bytes that a read takes beyond what it waits for: a small frame needs one read, and little is copied."""
_ROOM = 1.25
"""Memory allocated for a decisions frame, as a multiple of its size: the next frame may be larger."""
_TYPE_BYTES = 4  # the type and its padding, which the length counts


class FrameType(IntEnum):
    """Kind of a frame's payload."""

    CONTROL = 1
    DECISIONS = 2
    ACTIONS = 3


class ChannelClosedError(TryAgainError):
    """The other side is gone."""


class ChannelStuckError(TryAgainError):
    """The other side neither reads nor writes."""


class FrameChannel:
    """Sends and receives whole frames on two non-blocking file descriptors, which it owns.

    ``stuck_seconds`` is the longest wait for the other side to read or write anything while frames are sent to it.
    """

    def __init__(self, read_fd: int, write_fd: int, stuck_seconds: float = 60.0) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._stuck_seconds = stuck_seconds
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._received: deque[tuple[int, memoryview]] = deque()
        self._queued: list[bytes | memoryview] = []
        self._header = bytearray(HEADER.size)
        self._target = memoryview(self._header)
        self._filled = 0
        self._frame_type: int | None = None
        self._ahead = memoryview(bytearray(_AHEAD_BYTES))
        self._is_closed = False
        self._lent = bytearray()
        """The largest memory of decisions received since the last ``recycle``."""
        self._spare = bytearray()
        """Memory that is free to be reused."""

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when frames arrive."""
        return self._read_fd

    @property
    def has_frames(self) -> bool:
        """Whether ``receive`` would return at once."""
        return bool(self._received)

    def queue(self, frame_type: FrameType, parts: Sequence[bytes | memoryview]) -> None:
        """Queue one frame for the next ``flush``; its payload is ``parts`` joined."""
        size = sum(map(len, parts))
        if size + HEADER.size > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes is over the limit of {MAX_FRAME_BYTES}")
        self._queued += [HEADER.pack(size + _TYPE_BYTES, frame_type), *parts]

    def flush(self) -> None:
        """Send everything queued in one write.

        Raises:
            ChannelClosedError: the other side is gone.
            ChannelStuckError: it has read nothing for ``stuck_seconds``.
        """
        left = memoryview(b"".join(self._queued))
        self._queued = []
        while left:
            try:
                left = left[os.write(self._write_fd, left) :]
            except BlockingIOError:
                readable, writable, _ = select.select([self._read_fd], [self._write_fd], [], self._stuck_seconds)
                if readable:
                    self._read_available()
                elif not writable:
                    raise ChannelStuckError(f"the gateway read nothing for {self._stuck_seconds:g} s") from None
            except OSError as error:
                raise ChannelClosedError(f"the gateway stopped reading ({error.strerror})") from error

    def receive(self, timeout_seconds: float) -> tuple[int, memoryview] | None:
        """Return the next frame's type and payload, or None after ``timeout_seconds``.

        The payload of decisions is valid until ``recycle``.

        Raises:
            ChannelClosedError: the other side is gone.
        """
        deadline = time.monotonic() + timeout_seconds
        if not self._received:
            self._read_available()
        while not self._received:
            readable, _, _ = select.select([self._read_fd], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                return None
            self._read_available()
        frame_type, payload = self._received.popleft()
        if frame_type == FrameType.DECISIONS:
            assert isinstance(payload.obj, bytearray)
            self._lent = max(self._lent, payload.obj, key=len)
        return frame_type, payload

    def recycle(self) -> None:
        """Allow later decisions to overwrite those received so far.

        Fresh memory for each batch would be mapped, cleared and unmapped every time. A caller that never calls this
        keeps every payload.
        """
        self._spare = max(self._spare, self._lent, key=len)
        self._lent = bytearray()

    def close(self, listen_seconds: float = 0.0) -> None:
        """Close the output; read and drop input until it ends, at most ``listen_seconds``; then close the input.

        Safe to call twice.
        """
        if self._is_closed:
            return
        self._is_closed = True
        os.close(self._write_fd)
        if self._read_fd == self._write_fd:
            return
        deadline = time.monotonic() + listen_seconds
        while (left := deadline - time.monotonic()) > 0 and select.select([self._read_fd], [], [], left)[0]:
            if not os.read(self._read_fd, _CHUNK_BYTES):
                break
        os.close(self._read_fd)

    def _read_available(self) -> None:
        """Read what is available; queue whole frames."""
        while True:
            wanted = self._target[self._filled :]
            try:
                count = os.readv(self._read_fd, [wanted, self._ahead])
            except BlockingIOError:
                return
            except OSError as error:
                raise ChannelClosedError(f"the gateway's output broke ({error.strerror})") from error
            if count == 0:
                raise ChannelClosedError("the gateway closed its output")
            self._filled += min(count, len(wanted))
            ahead = self._ahead[: max(0, count - len(wanted))]
            while self._filled == len(self._target):
                self._take_target()
                self._filled = min(len(ahead), len(self._target))
                self._target[: self._filled] = ahead[: self._filled]
                ahead = ahead[self._filled :]
            if count < len(wanted) + _AHEAD_BYTES:
                return

    def _take_target(self) -> None:
        """Use the filled target: after a header comes its payload, and a payload completes a frame."""
        if self._frame_type is None:
            length, self._frame_type = HEADER.unpack(self._header)
            if not _TYPE_BYTES <= length <= MAX_FRAME_BYTES:
                raise ChannelClosedError(f"the gateway sent a frame of {length} bytes, which is not its protocol")
            size_bytes = length - _TYPE_BYTES
            is_reused = self._frame_type == FrameType.DECISIONS
            self._target = self._memory(size_bytes) if is_reused else memoryview(bytearray(size_bytes))
        else:
            self._received.append((self._frame_type, self._target))
            self._target, self._frame_type = memoryview(self._header), None

    def _memory(self, size_bytes: int) -> memoryview:
        """Return memory that nothing refers to."""
        if size_bytes > len(self._spare):
            return memoryview(bytearray(int(size_bytes * _ROOM)))[:size_bytes]
        memory, self._spare = self._spare, bytearray()
        return memoryview(memory)[:size_bytes]
