"""Frames over pipes: whole, in order, and without a deadlock if both sides send much."""

import os
import threading
from collections.abc import Iterator

import pytest

from nashdex.games.showdown.frames import (
    HEADER,
    ChannelClosedError,
    ChannelStuckError,
    FrameChannel,
    FrameType,
)


@pytest.fixture
def raw() -> Iterator[tuple[int, FrameChannel]]:
    """A channel, and the descriptor whose bytes it reads."""
    (read_fd, other_write_fd), (other_read_fd, write_fd) = os.pipe(), os.pipe()
    channel = FrameChannel(read_fd, write_fd, stuck_seconds=0.2)
    yield other_write_fd, channel
    os.close(other_write_fd)
    channel.close()
    os.close(other_read_fd)


@pytest.fixture
def ends() -> Iterator[tuple[FrameChannel, FrameChannel]]:
    """Two channels that talk to each other."""
    a_read, b_write = os.pipe()
    b_read, a_write = os.pipe()
    a, b = FrameChannel(a_read, a_write), FrameChannel(b_read, b_write)
    yield a, b
    for channel in (a, b):
        channel.close()


def test_frames_arrive_whole_and_in_order(ends: tuple[FrameChannel, FrameChannel]) -> None:
    a, b = ends
    for payload in (b"", b"x", b"y" * 1000):
        a.queue(FrameType.ACTIONS, [payload[:1], payload[1:]])
    assert b.receive(0.0) is None, "nothing goes before it is flushed"
    a.flush()
    received = [b.receive(1.0) for _ in range(3)]
    assert [(frame[0], bytes(frame[1])) for frame in received if frame] == [
        (FrameType.ACTIONS, b""),
        (FrameType.ACTIONS, b"x"),
        (FrameType.ACTIONS, b"y" * 1000),
    ]
    assert b.receive(0.01) is None


def test_a_frame_that_arrives_byte_by_byte_is_put_together(raw: tuple[int, FrameChannel]) -> None:
    write_fd, b = raw
    for byte in HEADER.pack(4 + 3, FrameType.CONTROL) + b"abc":
        assert b.receive(0.0) is None
        os.write(write_fd, bytes([byte]))
    frame = b.receive(1.0)
    assert frame is not None
    assert bytes(frame[1]) == b"abc"


@pytest.mark.parametrize("cut", range(1, 30))
def test_frames_that_arrive_in_two_pieces_are_put_together(raw: tuple[int, FrameChannel], cut: int) -> None:
    write_fd, b = raw
    payloads = [b"first", b"", b"second"]
    stream = b"".join(HEADER.pack(4 + len(payload), FrameType.DECISIONS) + payload for payload in payloads)
    received = []
    for piece in (stream[:cut], stream[cut:]):
        os.write(write_fd, piece)
        while frame := b.receive(0.0):
            received.append(bytes(frame[1]))
    assert received == payloads


def received_from(sender: FrameChannel, receiver: FrameChannel, frame_type: FrameType, payload: bytes) -> memoryview:
    sender.queue(frame_type, [payload])
    sender.flush()
    frame = receiver.receive(1.0)
    assert frame is not None
    assert bytes(frame[1]) == payload
    return frame[1]


def test_payloads_do_not_change_until_they_are_recycled(ends: tuple[FrameChannel, FrameChannel]) -> None:
    kept = [received_from(*ends, FrameType.DECISIONS, bytes([i]) * 5000) for i in range(5)]
    assert [bytes(payload[:1]) for payload in kept] == [bytes([i]) for i in range(5)]


def test_recycled_memory_is_reused_once_and_only_for_decisions(
    ends: tuple[FrameChannel, FrameChannel],
) -> None:
    _, b = ends
    first = received_from(*ends, FrameType.DECISIONS, b"a" * 5000)
    b.recycle()
    control = received_from(*ends, FrameType.CONTROL, b"{}")
    b.recycle()
    second = received_from(*ends, FrameType.DECISIONS, b"b" * 5200)
    third = received_from(*ends, FrameType.DECISIONS, b"c" * 5000)
    assert second.obj is first.obj
    assert third.obj is not first.obj
    assert bytes(second) == b"b" * 5200, "the same turn's other decisions have other memory"
    assert bytes(control) == b"{}"


def test_frames_sent_before_the_other_side_closed_are_received(ends: tuple[FrameChannel, FrameChannel]) -> None:
    a, b = ends
    for payload in (b"one", b"two"):
        a.queue(FrameType.CONTROL, [payload])
    a.flush()
    first = b.receive(1.0)
    assert first is not None
    a.close()
    second = b.receive(1.0)
    assert second is not None
    assert [bytes(first[1]), bytes(second[1])] == [b"one", b"two"]
    with pytest.raises(ChannelClosedError):
        b.receive(1.0)


def test_two_sides_that_write_more_than_pipes_hold_do_not_deadlock(
    ends: tuple[FrameChannel, FrameChannel],
) -> None:
    payload = bytes(3_000_000)
    received: list[int] = []

    def talk(channel: FrameChannel) -> None:
        channel.queue(FrameType.CONTROL, [payload])
        channel.flush()
        frame = channel.receive(600.0)
        received.append(len(frame[1]) if frame else 0)

    threads = [threading.Thread(target=talk, args=(channel,), daemon=True) for channel in ends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert received == [len(payload)] * 2


def test_a_closed_other_side_is_an_error(ends: tuple[FrameChannel, FrameChannel]) -> None:
    a, b = ends
    a.close()
    with pytest.raises(ChannelClosedError):
        b.receive(1.0)
    b.queue(FrameType.CONTROL, [b"x"])
    with pytest.raises(ChannelClosedError):
        b.flush()


def test_a_length_out_of_bounds_is_refused(raw: tuple[int, FrameChannel]) -> None:
    write_fd, b = raw
    os.write(write_fd, HEADER.pack(2**32 - 1, FrameType.CONTROL))
    with pytest.raises(ChannelClosedError, match="not its protocol"):
        b.receive(1.0)


def test_a_side_that_never_reads_is_given_up(raw: tuple[int, FrameChannel]) -> None:
    _, channel = raw
    channel.queue(FrameType.CONTROL, [bytes(3_000_000)])
    with pytest.raises(ChannelStuckError, match=r"read nothing for 0\.2 s"):
        channel.flush()


def test_closing_reads_the_last_output_and_may_be_repeated() -> None:
    read_fd, other_write_fd = os.pipe()
    other_read_fd, write_fd = os.pipe()
    channel = FrameChannel(read_fd, write_fd)
    heard_to_the_end: list[int] = []

    def speak() -> None:
        assert os.read(other_read_fd, 1) == b"", "its own input ended first"
        heard_to_the_end.append(os.write(other_write_fd, bytes(3_000_000)))
        os.close(other_write_fd)

    other = threading.Thread(target=speak, daemon=True)
    other.start()
    channel.close(listen_seconds=600.0)
    other.join()
    assert heard_to_the_end == [3_000_000]
    channel.close()
    os.close(other_read_fd)
