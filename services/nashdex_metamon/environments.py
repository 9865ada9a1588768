"""Metamon's spaces as a view of ``nashdex_play.envs``: tokens, numbers, the last reward, and its action numbers."""

import hashlib
from importlib import resources
from pathlib import Path
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import read_file
from nashdex.games.space import Space
from nashdex_metamon.live import generation_of
from nashdex_metamon.tokens import MOST_BYTES, Tokenizer
from nashdex_metamon.views.reading import MetamonView
from nashdex_play.envs.views import EnvView

_LAST_GENERATION: Final = 4
"""The last one whose words MiniRNN's vocabulary has."""


def metamon_view(
    vocabulary: Path | None = None,
    *,
    observations: str = "DefaultObservationSpace",
    actions: str = "DefaultActionSpace",
    reward: str = "DefaultShapedReward",
) -> EnvView:
    """Return a view of metamon's spaces and reward of these names, for ``view`` of an environment.

    Args:
        vocabulary: a JSON file from words to token ids, as metamon's tokenizers have it. None: MiniRNN's, which comes
            with this package and has the words of generations 1 to 4. A word that it lacks is −1.
        observations: an observation space of metamon.
        actions: an action space of metamon.
        reward: a reward function of metamon.
    """

    def make(space: Space) -> MetamonView:
        if space.num_slots > 1:
            raise ConfigurationError(
                f"metamon's spaces are of single battles, and {space.format} is doubles: expected a view such as 'text'"
            )
        if vocabulary is not None:
            words, source = read_file(vocabulary, "a vocabulary", MOST_BYTES), str(vocabulary)
        elif generation_of(space.format) > _LAST_GENERATION:
            raise ConfigurationError(
                f"the view's vocabulary has the words of generations 1 to {_LAST_GENERATION}, and the format is "
                f"{space.format}: expected view=metamon_view(Path('VOCABULARY.json')) of nashdex_metamon.environments"
            )
        else:
            source = "mini_rnn_data/vocabulary.json"
            words = resources.files("nashdex_metamon.checkpoints").joinpath(source).read_bytes()
        return MetamonView(
            space,
            Tokenizer.from_json(words, source),
            observations=observations,
            actions=actions,
            reward=reward,
            vocabulary=hashlib.sha256(words).hexdigest(),
        )

    return EnvView(make=make)


METAMON: Final = metamon_view()
