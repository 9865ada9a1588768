"""Player of ``metamon:mini-rnn``: metamon's MiniRNN, a small network cloned from human battles of generations 1 to 4.

Its weights come with this package (MIT, ``mini_rnn_data/LICENSE.txt``). It never changes, so it anchors ratings to
human play.
"""

import hashlib
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer
from nashdex_metamon.checkpoints.architecture import MINI_RNN as SIZES
from nashdex_metamon.checkpoints.archive import loaded
from nashdex_metamon.checkpoints.document import ImportedPolicy
from nashdex_metamon.checkpoints.playing import MemoryPlayer
from nashdex_metamon.views.definition import view_definition

_NUM_WORDS: Final = 1402
_NUM_PARAMETERS: Final = 808_957


class MiniRnnPlayer(ScriptedPlayer):
    """Samples from MiniRNN's distribution over the legal actions."""

    def __init__(self, space: Space) -> None:
        folder = resources.files(__package__) / "mini_rnn_data"
        weights = (folder / "weights.safetensors").read_bytes()
        vocabulary = (folder / "vocabulary.json").read_bytes()
        digest = hashlib.sha256(weights).hexdigest()
        vocabulary_digest = hashlib.sha256(vocabulary).hexdigest()
        spaces = ("DefaultObservationSpace", "MinimalActionSpace", "DefaultShapedReward")
        document = ImportedPolicy(
            name="MiniRNN",
            architecture=SIZES,
            observation_space=spaces[0],
            action_space=spaces[1],
            reward=spaces[2],
            view=view_definition(*spaces, vocabulary_digest).identity,
            strict_mask=True,
            num_words=_NUM_WORDS,
            num_parameters=_NUM_PARAMETERS,
            weights_sha256=digest,
            weights_bytes=len(weights),
            vocabulary_sha256=vocabulary_digest,
            source_sha256=digest,
        )
        self._player = MemoryPlayer(loaded(document, weights, vocabulary, "metamon:mini-rnn"), space)
        self.view = self._player.view

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row."""
        return self._player.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        self._player.forget(battle, seat)
