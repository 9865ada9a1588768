"""The contestants of a match, as people name them: see ``core.references``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nashdex.core.ids import PolicyId, policy_id
from nashdex.core.references import PolicyReference
from nashdex.games.registry import FORMATS
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.space import Space
from nashdex.policies.external import ExternalPolicy
from nashdex.policies.interface import Policy
from nashdex.policies.mixture import Mixture
from nashdex.policies.references import resolve
from nashdex.policies.scripted.playing import declared_policy
from nashdex.policies.scripted.registry import max_concurrent_battles
from nashdex.policies.sources import load_policies
from nashdex.rollout.pairs import PairedBattles
from nashdex.settings.external import is_external, named_player
from nashdex.store import open_store

_GUIDED_BATTLES = 8
"""Battles at once with a search around a stored policy, so that none passes its deadline."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A policy or mixture; one of its policies is drawn for each pair of battles."""

    mixture: Mixture
    policies: Mapping[PolicyId, Policy]


def draw_policies(
    contestants: tuple[Contestant, Contestant], paired: PairedBattles, number: int
) -> tuple[PolicyId, PolicyId]:
    """Return who plays battle ``number``. Both battles of a pair have the same policies."""
    first, second = contestants
    return (
        first.mixture.draw(paired.pair_uniform(number, "policy", 0)),
        second.mixture.draw(paired.pair_uniform(number, "policy", 1)),
    )


def check_contestants(texts: Iterable[str], format_id: str) -> None:
    """Refuse unknown players, and scripted ones that do not play the format, before the first battle.

    Raises:
        ConfigurationError: there is no such player, or it does not play the format.
        DataError: the run or policy is missing.
    """
    played = FORMATS[format_id]
    for text in texts:
        if is_external(text):
            named_player(text)
            continue
        found = resolve(PolicyReference.parse(text))
        if found.store is None:
            (name,) = found.mixture
            declared_policy(name, played.game, format_id, played.num_slots)


def load_contestant(text: str, space: Space) -> Contestant:
    """Return the contestant that ``text`` names.

    Raises:
        ConfigurationError: it names no policy, or one that cannot search.
        DataError: the run or policy is missing, altered, or of another space.
    """
    if is_external(text):
        return _external(text, space)
    found = resolve(PolicyReference.parse(text))
    mixture = Mixture(found.mixture)
    return Contestant(mixture, load_policies(found.store or open_store("."), mixture.support, space))


def open_contestant(text: str, format_id: str) -> tuple[Gateway, Contestant]:
    """Return a gateway of a Showdown format, which the caller closes, and the contestant that plays in its space.

    Raises:
        ConfigurationError: ``text`` names no policy, or one that does not play the format.
        DataError: its run or policy is missing or altered.
        TryAgainError: no gateway answers.
    """
    gateway = Gateway(format_id)
    try:
        return gateway, load_contestant(text, gateway.space)
    except BaseException:
        gateway.close()
        raise


def most_concurrent_battles(texts: Sequence[str], most: int) -> int:
    """Return how many battles to play at once with these contestants, at most ``most``."""
    found = max_concurrent_battles(texts, most)
    found = min([found, *(named_player(text)[1].most_at_once for text in texts if is_external(text))])
    return min(found, _GUIDED_BATTLES) if any(PolicyReference.parse(text).searches for text in texts) else found


def _external(text: str, space: Space) -> Contestant:
    name, declared = named_player(text)
    policy = ExternalPolicy(policy_id(name), declared, space)
    return Contestant(Mixture({policy.id: 1.0}), {policy.id: policy})
