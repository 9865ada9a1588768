"""Frames over two file descriptors (docs/gateway.md), without ever waiting for one direction alone.

Both sides stop reading while their output is full, so a writer that only wrote could wait for ever. Sending
therefore goes on receiving.
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
"""How much of the last words is read at once."""
_ROOM = 1.25
"""Memory for decisions, over their size: the next ones may be a few more."""
_STUCK_SECONDS = 60.0
"""Longest wait for the other side to read or write anything while frames are on their way to it."""
_TYPE_BYTES = 4  # the type and its padding, which the length counts


class FrameType(IntEnum):
    """What a frame's payload is."""

    CONTROL = 1
    DECISIONS = 2
    ACTIONS = 3


class ChannelClosedError(TryAgainError):
    """The other side went away."""


class ChannelStuckError(TryAgainError):
    """The other side is there and does nothing."""


class FrameChannel:
    """Sends and receives whole frames on two non-blocking file descriptors, which it owns."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._received: deque[tuple[int, memoryview]] = deque()
        self._queued: list[bytes | memoryview] = []
        self._header = bytearray(HEADER.size)
        self._target = memoryview(self._header)
        self._filled = 0
        self._frame_type: int | None = None
        self._is_closed = False
        self._lent = bytearray()
        """The largest memory of decisions received since the last ``recycle``."""
        self._spare = bytearray()
        """Memory that nobody looks at any more."""

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when frames come."""
        return self._read_fd

    @property
    def has_frames(self) -> bool:
        """Say whether ``receive`` would return at once."""
        return bool(self._received)

    def queue(self, frame_type: FrameType, parts: Sequence[bytes | memoryview]) -> None:
        """Have one frame, whose payload is ``parts`` joined, go with the next ``flush``."""
        size = sum(len(part) for part in parts)
        if size + HEADER.size > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes is over the limit of {MAX_FRAME_BYTES}")
        self._queued += [HEADER.pack(size + _TYPE_BYTES, frame_type), *parts]

    def flush(self) -> None:
        """Send what is queued, in one go.

        Raises:
            ChannelClosedError: the other side went away.
            ChannelStuckError: it has read nothing for a minute.
        """
        left = memoryview(b"".join(self._queued))
        self._queued = []
        while left:
            try:
                left = left[os.write(self._write_fd, left) :]
            except BlockingIOError:
                readable, writable, _ = select.select([self._read_fd], [self._write_fd], [], _STUCK_SECONDS)
                if readable:
                    self._read_available()
                elif not writable:
                    raise ChannelStuckError(f"the gateway read nothing for {_STUCK_SECONDS:.0f} s") from None
            except OSError as error:
                raise ChannelClosedError(f"the gateway stopped reading ({error.strerror})") from error

    def receive(self, timeout_seconds: float) -> tuple[int, memoryview] | None:
        """Return the next frame's type and payload, or None if none came in time. Decisions stay until ``recycle``.

        Raises:
            ChannelClosedError: the other side went away.
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
        """Let decisions to come overwrite those received so far, which nobody may look at any more.

        Fresh memory for each batch would be mapped, cleared and unmapped every time. A caller that never says this
        keeps every payload for as long as it likes.
        """
        self._spare = max(self._spare, self._lent, key=len)
        self._lent = bytearray()

    def close(self, listen_seconds: float = 0.0) -> None:
        """Close both descriptors; before the second, read and drop what the other side says until it ends or in time.

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
        """Read what is there; whole frames go to the queue."""
        while True:
            wanted = [self._target[self._filled :]]
            if self._frame_type is not None:
                wanted.append(memoryview(self._header))  # of the frame after it: it is there already or comes later
            try:
                count = os.readv(self._read_fd, wanted)
            except BlockingIOError:
                return
            except OSError as error:
                raise ChannelClosedError(f"the gateway's output broke ({error.strerror})") from error
            if count == 0:
                raise ChannelClosedError("the gateway closed its output")
            self._filled += count
            while self._filled >= len(self._target):
                self._filled -= len(self._target)
                self._take_target()
            if count < sum(map(len, wanted)):
                return

    def _take_target(self) -> None:
        """Use what was filled: a header names the payload to fill next, a payload ends a frame."""
        if self._frame_type is None:
            length, self._frame_type = HEADER.unpack(self._header)
            if not _TYPE_BYTES <= length <= MAX_FRAME_BYTES:
                raise ChannelClosedError(f"the gateway sent a frame of {length} bytes: not its protocol")
            size_bytes = length - _TYPE_BYTES
            is_reused = self._frame_type == FrameType.DECISIONS
            self._target = self._memory(size_bytes) if is_reused else memoryview(bytearray(size_bytes))
        else:
            self._received.append((self._frame_type, self._target))
            self._target, self._frame_type = memoryview(self._header), None

    def _memory(self, size_bytes: int) -> memoryview:
        """Return memory that nobody looks at."""
        if size_bytes > len(self._spare):
            return memoryview(bytearray(int(size_bytes * _ROOM)))[:size_bytes]
        memory, self._spare = self._spare, bytearray()
        return memoryview(memory)[:size_bytes]
