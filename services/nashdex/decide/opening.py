"""Opens an adviser: loads the policy, and the networks that think beside it."""

from nashdex.core.references import PolicyReference
from nashdex.decide.deciding import Adviser
from nashdex.decide.judging import judge_of
from nashdex.evaluator.contestants import open_contestant
from nashdex.games.registry import showdown_game
from nashdex.policies.references import resolve
from nashdex.runs.played_format import format_to_play
from nashdex.settings.external import is_external


def open_adviser(policy: str, format_id: str | None = None, *, seed: int = 0, answer_seconds: float = 10.0) -> Adviser:
    """Return what answers for ``policy``, as ``nashdex battle --p1`` takes it. Close it after use.

    Raises:
        ConfigurationError: there is no such policy, it does not play the format, or the format is not Showdown's.
        DataError: its run or policy is missing or altered.
        TryAgainError: no gateway answers.
    """
    game = showdown_game(format_to_play(format_id, {"POLICY": policy}))
    gateway, contestant = open_contestant(policy, game.format)
    try:
        store = None if is_external(policy) else resolve(PolicyReference.parse(policy)).store
        judges = {
            each.id: judge
            for each in contestant.policies.values()
            if store is not None and (judge := judge_of(store, each, gateway.space)) is not None
        }
    except BaseException:
        gateway.close()
        raise
    return Adviser(contestant, judges, gateway, seed=seed, answer_seconds=answer_seconds)
