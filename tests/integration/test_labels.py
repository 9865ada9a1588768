"""Logs under false names are refused; changed ones are refused or read under their own format."""

import random
from pathlib import Path

import pytest

from fuzz.labels import mislabel, mutate, recorded

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[1] / "data"


def test_no_log_is_read_under_a_false_name() -> None:
    """Of people, in single and in double battles."""
    logs = recorded([DATA / "metamon" / "logs", DATA / "vgc"])
    counts = mislabel(logs, 40, random.Random(1))
    assert counts.failures == []
    assert counts.refused.total() == 40
    assert set(counts.refused) == {"generation", "gametype", "tier"}


@pytest.mark.slow
def test_changed_logs_are_refused_or_read_under_their_own_format() -> None:
    counts = mutate(recorded([DATA / "metamon" / "logs"]), 40, random.Random(1))
    assert counts.failures == []
    assert counts.refused.total() + counts.read == 40
    assert counts.read > 0
