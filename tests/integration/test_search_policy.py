"""The searching policies in real battles."""

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.evaluator.match import MatchResult, play_match

pytestmark = pytest.mark.integration


def _play(format_id: str, battles: int, seed: int = 3) -> MatchResult:
    return play_match(format_id, "search:matrix-small", "random", battles=battles, seed=seed)


def test_it_plays_and_plays_the_same_again() -> None:
    first, second = (_play("gen1randombattle", 2) for _ in range(2))
    assert first.battles == 2
    assert first.failed == first.rejected == 0
    assert first.model_copy(update={"seconds": 0.0}) == second.model_copy(update={"seconds": 0.0})


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9randombattle"])
def test_it_plays_formats_with_teams_and_of_later_generations(format_id: str) -> None:
    result = _play(format_id, 1)
    assert (result.battles, result.failed) == (1, 0)


def test_it_refuses_doubles() -> None:
    with pytest.raises(ConfigurationError, match="'search:matrix-small' does not play gen9randomdoublesbattle"):
        _play("gen9randomdoublesbattle", 1)
