"""Opens what decides for a served policy: a gateway that follows battles, and the policy itself."""

from nashdex.core.errors import ConfigurationError
from nashdex.evaluator.contestants import open_contestant
from nashdex.games.interface import Game
from nashdex.policies.mixture import Mixture
from nashdex.serve.deciding import Decider


def open_decider(policy: str, game: Game, seed: int) -> Decider:
    """Return what decides for ``policy``, as ``nashdex battle --p1`` takes it, in ``game``. Close it after use.

    Raises:
        ConfigurationError: there is no such policy, it does not play the game, or the game is not Showdown's.
        DataError: its run or policy is missing or altered.
        TryAgainError: no gateway answers.
    """
    if game.tree is not None:
        raise ConfigurationError(f"no Showdown server plays {game.format}; name a Showdown format, such as gen1ou")
    gateway, contestant = open_contestant(policy, game.format)
    return Decider(gateway, dict(contestant.policies), Mixture(contestant.mixture.weights), seed)
