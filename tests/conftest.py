"""What holds for every test: the settings of whoever runs them stay outside, and examples are the same each time."""

import os

import pytest
from hypothesis import settings

settings.register_profile("nashdex", derandomize=True, deadline=None)
settings.load_profile("nashdex")
# Networks here are tiny: torch's threads, one a core in each of pytest's processes, would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("NASHDEX_") and not name.startswith("NASHDEX_TEST_")]:
        monkeypatch.delenv(name)
