"""The opponents of a panel, before any battle."""

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.evaluator.panel import panel_of


def test_a_panel_holds_what_plays_the_format() -> None:
    assert "metamon:mini-rnn" in panel_of("gen1ou", "random")
    members = panel_of("gen9randombattle", "random", ("max-power", "first-action"))
    assert "metamon:mini-rnn" not in members
    assert "random" not in members
    assert members[-1] == "first-action"


def test_a_panel_refuses_who_does_not_play_the_format() -> None:
    with pytest.raises(ConfigurationError, match=r"metamon:mini-rnn does not play gen9randombattle; expected one of "):
        panel_of("gen9randombattle", "random", ("metamon:mini-rnn",))
