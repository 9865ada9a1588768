"""A league: prioritised fictitious self-play (PFSP) within classes of opponents.

PFSP (Vinyals et al. 2019, "Grandmaster level in StarCraft II using multi-agent reinforcement learning", Methods)
weighs an opponent by f(w), where w is the learner's win rate against it: hard (1 − w)² prefers those that it loses to,
variance w (1 − w) its equals, normal min(½, 1 − w) those that it does not beat yet. The classes keep a share of the
battles for anchors, for the learner itself, and for those that it must not forget to beat. Everything goes by id.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from pydantic import Field

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice, Share
from nashdex.metagame.evidence.estimates import EVEN
from nashdex.metagame.opponents.interface import OpponentRule, Situation
from nashdex.metagame.population import Population

Weighting = Literal["hard", "variance", "normal"]


class LeagueSettings(Choice):
    """Prioritised fictitious self-play over classes of opponents. Shares are proportions: they need not sum to 1."""

    kind: Literal["league"] = "league"
    weighting: Weighting = Field("hard", description="PFSP weight of an opponent.")
    baseline: Share = Field(0.05, description="Share of the scripted policies.")
    itself: Share = Field(0.30, description="Share of the learner's newest self.")
    peer: Share = Field(0.30, description="Share of policies at most 100 Elo weaker, or stronger.")
    exploitable: Share = Field(0.35, description="Share of policies more than 50 Elo weaker.")
    final_shares: tuple[Share, Share, Share, Share] | None = Field(
        None, description="Shares of baseline, itself, peer and exploitable in the last iteration; linear in between."
    )


PEER_ELO: Final = 100.0
"""Peers are at most this much weaker than the learner. Stronger policies are peers too: hard PFSP is for them."""
EXPLOITABLE_ELO: Final = 50.0
"""Policies more than this much weaker are exploitable, and may be peers as well."""

_WEIGHTS: Final[Mapping[Weighting, Callable[[float], float]]] = {
    "hard": lambda win_rate: (1.0 - win_rate) ** 2,
    "variance": lambda win_rate: win_rate * (1.0 - win_rate),
    "normal": lambda win_rate: min(0.5, 1.0 - win_rate),
}


class ClassShares(NamedTuple):
    """How often the learner meets each class. Proportions: they need not sum to 1."""

    baseline: float
    itself: float
    peer: float
    exploitable: float


def shares_at(settings: LeagueSettings, iteration: int, num_iterations: int) -> ClassShares:
    """Return the shares of ``iteration``: linear from those of iteration 1 to the final ones.

    Args:
        settings: the run's.
        iteration: at least 1.
        num_iterations: of the run, iteration 0 included.
    """
    first = ClassShares(settings.baseline, settings.itself, settings.peer, settings.exploitable)
    final = ClassShares(*(settings.final_shares or first))
    done = (iteration - 1) / (num_iterations - 2) if num_iterations > 2 else 0.0  # noqa: PLR2004 - 0 and 1
    return ClassShares(*((1.0 - done) * start + done * end for start, end in zip(first, final, strict=True)))


def pfsp(win_rates: Mapping[PolicyId, float], weighting: Weighting) -> dict[PolicyId, float]:
    """Return how often each opponent is met, by the learner's win rate against it, in [0, 1].

    If every weight is 0, because every opponent is beaten for certain, all are met equally often.
    """
    weights = {policy: _WEIGHTS[weighting](rate) for policy, rate in win_rates.items()}
    total = math.fsum(weights.values())
    if total > 0.0:
        return {policy: weight / total for policy, weight in weights.items()}
    return dict.fromkeys(weights, 1.0 / len(weights)) if weights else {}


def league_mixture(
    population: Population,
    learner: PolicyId,
    win_rates: Mapping[PolicyId, float],
    ratings: Mapping[str, float],
    *,
    shares: ClassShares,
    weighting: Weighting,
) -> dict[PolicyId, float]:
    """Return how often the learner meets each member, by id; those that it never meets are left out.

    An empty class gives its share to the others, in proportion.

    Args:
        population: every member.
        learner: the member that trains.
        win_rates: the learner's against each other member.
        ratings: Elo by policy; a member without one counts as strong as the learner.
        shares: of the classes.
        weighting: PFSP's, within each class.

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
        for policy, chance in pfsp({m: win_rates.get(m, EVEN) for m in members}, weighting).items():
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
    return league_mixture(
        situation.population,
        situation.learner,
        situation.matrix.win_rates(situation.learner),
        situation.ratings,
        shares=shares_at(settings, situation.iteration, situation.num_iterations),
        weighting=settings.weighting,
    )


def problems(settings: LeagueSettings) -> Iterator[str]:
    """Yield what leaves the learner without an opponent."""
    # In between, shares are weighted means of these two: positive where both are.
    if min(sum(shares_at(settings, iteration, 3)[:2]) for iteration in (1, 2)) <= 0:
        yield (
            "opponents.baseline and opponents.itself are both 0, and at first the learner has no other opponents; give "
            "one of them a share, in opponents.final_shares too"
        )


LEAGUE = OpponentRule(
    settings=LeagueSettings,
    summary="a league: scripted policies, the learner itself, peers and weaker policies, by PFSP",
    words="a league",
    mixture=mixture,
    meets_itself=True,
    needs_battles=True,
    problems=problems,
)
