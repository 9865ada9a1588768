"""What holds for every test: the settings of whoever runs them stay outside, and examples are the same each time."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from nashdex.core.stopping import install_stop_handlers, stop_requested

settings.register_profile("nashdex", derandomize=True, deadline=None)
settings.load_profile("nashdex")
# Networks here are tiny: torch's threads, one a core in each of pytest's processes, would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("NASHDEX_") and not name.startswith("NASHDEX_TEST_")]:
        monkeypatch.delenv(name)


# A shell starts background jobs with SIGINT ignored, and so would be every process that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
_HANDLERS = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """Undo the signal handlers and the request to stop that a step run within the test's process leaves.

    A fixture of a module may have run one before its first test.
    """
    _restore_handlers()
    yield
    _restore_handlers()


def _restore_handlers() -> None:
    if stop_requested() or any(signal.getsignal(number) != handler for number, handler in _HANDLERS.items()):
        install_stop_handlers()  # forgets the request
        for number, handler in _HANDLERS.items():
            signal.signal(number, handler)
