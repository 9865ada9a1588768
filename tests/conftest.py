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


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """Undo the signal handlers and the request to stop that a step run within the test's process leaves."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    yield
    if stop_requested() or [signal.getsignal(number) for number in numbers] != before:
        install_stop_handlers()  # forgets the request
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
