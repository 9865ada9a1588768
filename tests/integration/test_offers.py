"""What a log allows a player agrees with the simulator's requests."""

from pathlib import Path

import pytest

from audits.offers import audit, audit_goldens

pytestmark = [pytest.mark.integration, pytest.mark.slow]

GOLDENS = Path(__file__).parents[1] / "data" / "metamon"


def test_nothing_is_forbidden_that_a_request_allows() -> None:
    for found in audit_goldens(GOLDENS):
        assert found.wrong == []
        assert found.slots > 100
        assert found.missed == []


def test_doubles_forbid_what_a_request_forbids() -> None:
    """Four battles with 13 forbidden moves."""
    found = audit("gen9vgc2024regg", 4, seed=2)
    assert found.wrong == found.missed == []
    assert found.forbidden >= found.forbidden_here > 0
