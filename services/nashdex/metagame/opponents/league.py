"""A league: prioritised fictitious self-play (PFSP) within classes of opponents, and exploiters in turn with it.

The classes keep a share of the battles for anchors, for the learner itself, and for those that it must not forget to
beat. Everything goes by id.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import EVEN
from nashdex.metagame.opponents.exploiters import exploiter_mixture, exploiter_reset
from nashdex.metagame.opponents.interface import OpponentRule, Situation
from nashdex.metagame.opponents.pfsp import pfsp
from nashdex.metagame.population import Population, Reset
from nashdex.settings.opponents import MAIN, ExploiterSettings, LeagueSettings

PEER_ELO: Final = 100.0
"""Peers are at most this much weaker than the learner. Stronger policies are peers too: hard PFSP is for them."""
EXPLOITABLE_ELO: Final = 50.0
"""Policies more than this much weaker are exploitable, and may be peers as well."""


class ClassShares(NamedTuple):
    """How often the learner meets each class. Proportions: they need not sum to 1."""

    baseline: float
    itself: float
    peer: float
    exploitable: float


def league_mixture(
    population: Population,
    learner: PolicyId,
    win_rates: Mapping[PolicyId, float],
    ratings: Mapping[str, float],
    *,
    shares: ClassShares,
) -> dict[PolicyId, float]:
    """Return how often the learner meets each member, by id; those that it never meets are left out.

    An empty class gives its share to the others, in proportion.

    Args:
        population: every member.
        learner: the member that trains.
        win_rates: the learner's against each other member.
        ratings: Elo by policy; a member without one counts as strong as the learner.
        shares: of the classes.

    Raises:
        ConfigurationError: only classes that are empty have a share.
    """
    classes = _classes(population, learner, ratings)
    total = math.fsum(share for share, members in zip(shares, classes, strict=True) if members)
    if total <= 0.0:
        raise ConfigurationError(
            f"no opponent of {learner!r} is in a class that has a share ({shares}); "
            "give opponents.baseline or opponents.itself a share"
        )
    mixture = dict.fromkeys(population.ids, 0.0)
    for share, members in zip(shares, classes, strict=True):
        for policy, chance in pfsp({m: win_rates.get(m, EVEN) for m in members}, "hard").items():
            mixture[policy] += share / total * chance
    return {policy: chance for policy, chance in sorted(mixture.items()) if chance > 0.0}


def _classes(
    population: Population, learner: PolicyId, ratings: Mapping[str, float]
) -> tuple[Sequence[PolicyId], Sequence[PolicyId], Sequence[PolicyId], Sequence[PolicyId]]:
    """Return the members of each class, in the order of ClassShares."""
    own = ratings.get(learner, 0.0)
    gaps = {
        entry.id: ratings.get(entry.id, own) - own
        for entry in population.policies
        if not entry.is_anchor and entry.id != learner
    }
    return (
        [entry.id for entry in population.policies if entry.is_anchor],
        [learner],
        [policy for policy, gap in gaps.items() if gap >= -PEER_ELO],
        [policy for policy, gap in gaps.items() if gap < -EXPLOITABLE_ELO],
    )


def mixture(settings: LeagueSettings, situation: Situation) -> dict[PolicyId, float]:
    """Return how often the learner meets each member.

    Raises:
        ConfigurationError: only classes that are empty have a share.
    """
    if situation.role not in {None, MAIN}:
        return exploiter_mixture(settings.exploiters, situation)
    return league_mixture(
        situation.population,
        situation.learner,
        situation.matrix.win_rates(situation.learner),
        situation.ratings,
        shares=ClassShares(settings.baseline, settings.itself, settings.peer, settings.exploitable),
    )


def roles(settings: LeagueSettings) -> tuple[str, ...]:
    """Return the roles that train in turn; none where the main agent alone trains."""
    return settings.roles if set(settings.roles) != {MAIN} else ()


def reset(settings: LeagueSettings, situation: Situation) -> Reset | None:
    """Return why the learner starts again; the main agent never does."""
    return None if situation.role in {None, MAIN} else exploiter_reset(settings.exploiters, situation)


def problems(settings: LeagueSettings) -> Iterator[str]:
    """Yield what leaves a learner without an opponent, and settings without effect."""
    if settings.roles[0] != MAIN:
        yield f"opponents.roles begins with {settings.roles[0]!r}, which has nobody to exploit yet; expected 'main'"
    if not roles(settings) and settings.exploiters != ExploiterSettings():
        yield "opponents.exploiters has no effect without exploiters in opponents.roles: leave it out, or add some"
    if settings.baseline + settings.itself <= 0:
        yield (
            "opponents.baseline and opponents.itself are both 0, and at first the learner has no other opponents; give "
            "one of them a share"
        )


LEAGUE = OpponentRule(
    settings=LeagueSettings,
    summary="a league: scripted policies, the learner itself, peers and weaker policies, by PFSP; exploiters in turn",
    words="a league",
    mixture=mixture,
    meets_itself=True,
    needs_battles=True,
    roles=roles,
    reset=reset,
    problems=problems,
)
