"""The reader of replays is found by the game of a format."""

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.trajectory.replay_readers import reader_of
from nashdex_replays.reader import SHOWDOWN


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9vgc2024regg"])
def test_formats_of_one_game_have_one_reader(format_id: str) -> None:
    assert reader_of(format_id) is SHOWDOWN


def test_another_game_has_none() -> None:
    with pytest.raises(ConfigurationError, match="kuhn_poker is another game: leave them out"):
        reader_of("kuhn_poker")
