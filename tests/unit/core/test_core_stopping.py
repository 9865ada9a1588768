"""Signals become a request to stop, which says whether the user made it."""

import signal
from collections.abc import Iterator

import pytest

from nashdex.core.errors import InterruptedByUserError, StoppedError
from nashdex.core.stopping import check_stop, stop_requested
from support.stopping import stop_handlers


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    with stop_handlers():
        yield


def test_nobody_asked() -> None:
    check_stop()
    assert not stop_requested()


@pytest.mark.parametrize(
    ("signals", "error"),
    [
        ([signal.SIGTERM], StoppedError),
        ([signal.SIGTERM, signal.SIGTERM], StoppedError),
        ([signal.SIGINT], InterruptedByUserError),
        ([signal.SIGTERM, signal.SIGINT], InterruptedByUserError),
    ],
)
def test_a_signal_stops_where_stopping_loses_nothing(signals: list[signal.Signals], error: type[StoppedError]) -> None:
    for number in signals:
        signal.raise_signal(number)
    assert stop_requested()
    with pytest.raises(StoppedError) as caught:
        check_stop()
    assert type(caught.value) is error


def test_a_request_is_not_lost_where_exceptions_are() -> None:
    """Python prints and forgets what a finaliser raises."""

    class Interrupted:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    interrupted = Interrupted()
    del interrupted
    with pytest.raises(InterruptedByUserError):
        check_stop()


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
