"""What holds for every test: the settings of whoever runs them stay outside, and examples are the same each time."""

import os
import resource
import signal
from collections.abc import Generator, Iterator
from importlib.metadata import entry_points

import pytest
from hypothesis import settings

from nashdex.core.stopping import install_stop_handlers, stop_requested

for package, group, name in (
    ("nashdex-bench", "nashdex.commands", "bench"),
    ("nashdex-metamon", "nashdex.rewards", "metamon-default"),
):
    if name not in entry_points(group=group).names:
        pytest.exit(f"{package} is not installed in this environment; run `make setup`", returncode=4)

settings.register_profile("nashdex", derandomize=True, deadline=None)
settings.load_profile("nashdex")
# Networks here are tiny: torch's threads, one a core in each of pytest's processes, would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


_CPU_SECONDS_BEFORE = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record the CPU time of a test with its fixtures, that of children included, for ``make times``."""
    item.stash[_CPU_SECONDS_BEFORE] = _cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add that time to the report of a test that is over."""
    report = yield
    if report.when == "teardown":
        used = _cpu_seconds() - item.stash[_CPU_SECONDS_BEFORE]
        report.user_properties.append(("cpu_seconds", round(used, 3)))
    return report


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


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
