"""What the mask allows, the simulator takes."""

import pytest

from audits.rejections import count_rejections
from nashdex.core.errors import ConfigurationError

pytestmark = pytest.mark.integration


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen1ou"])
def test_nothing_is_refused_where_nothing_is_hidden(format_id: str) -> None:
    counts = count_rejections(format_id, 30, seed=5).as_json()
    assert counts["battles"] == 30
    assert counts["failed"] == 0
    assert counts["decisions"] > 30 * 20
    assert counts["rejected_choices"] == 0
    assert counts["share_without"] == pytest.approx(1.0)


@pytest.mark.slow
def test_the_same_seed_counts_the_same() -> None:
    first = count_rejections("gen9randombattle", 8, seed=2).as_json()
    assert first == count_rejections("gen9randombattle", 8, seed=2).as_json()


@pytest.mark.slow
def test_a_refused_choice_is_traced_to_what_could_not_be_known() -> None:
    """In the first battle of seed 1, a Magnezone's Magnet Pull keeps Scizor, and was not shown before."""
    counts = count_rejections("gen9randombattle", 1, seed=1).as_json()
    assert counts["battles_with_rejection"] == counts["battles"] == 1
    cause = {"cause": "Can't switch: The active Pokémon is trapped", "maybe_trapped": True}
    assert counts["causes"] == [{**cause, "opponent": "magnezone", "ability": "", "count": 1}]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="gen1oops"):
        count_rejections("gen1oops", 1, seed=1)
