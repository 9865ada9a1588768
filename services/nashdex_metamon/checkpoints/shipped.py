"""Policies that come with this package: ``metamon:mini-rnn``. No torch before it plays."""

from typing import Final

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.scripted.declaration import ScriptedPolicy

MINI_RNN: Final = ScriptedPolicy(
    "nashdex_metamon.checkpoints.mini_rnn_player:MiniRnnPlayer",
    games=frozenset({SHOWDOWN}),
    formats="gen[1-4](?![0-9])",
    needs_lines=True,
    needs_state=True,
)
