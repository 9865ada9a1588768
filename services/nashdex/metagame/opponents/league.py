"""A league: prioritised fictitious self-play (PFSP) within classes of opponents, and exploiters in turn with it.

Vinyals et al. 2019, "Grandmaster level in StarCraft II using multi-agent reinforcement learning", Methods.

PFSP: an opponent's weight is f(w), where w is the learner's win rate against it: hard (1 − w)² prefers those that it
loses to, and variance w (1 − w) its equals. The classes keep a share of the battles for anchors, for the learner
itself, and for those that it must not forget to beat. Everything goes by id.

Exploiters look for weaknesses of the others. A *main exploiter* meets the newest main agent; while it hardly ever wins,
it meets all main agents by PFSP, variance. A *league exploiter* meets the whole league by PFSP. Both start again from
the run's first network, so that they look for another weakness: a main exploiter when it beats the main agent or has
trained for long, a league exploiter with some probability at the same moments. Win rates come from the payoff table,
never from training.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_uniform
from nashdex.metagame.evidence.estimates import EVEN
from nashdex.metagame.opponents.interface import OpponentRule, Situation
from nashdex.metagame.population import PolicyEntry, Population, Reset, newest
from nashdex.settings.opponents import MAIN, ExploiterSettings, LeagueSettings, Role

Weighting = Literal["hard", "variance"]

_WEIGHTS: Final[Mapping[Weighting, Callable[[float], float]]] = {
    "hard": lambda win_rate: (1.0 - win_rate) ** 2,
    "variance": lambda win_rate: win_rate * (1.0 - win_rate),
}


def pfsp(win_rates: Mapping[PolicyId, float], weighting: Weighting) -> dict[PolicyId, float]:
    """Return how often each opponent is met, by the learner's win rate against it, in [0, 1].

    If every weight is 0, because every opponent is beaten for certain, all are met equally often.
    """
    weights = {policy: _WEIGHTS[weighting](rate) for policy, rate in win_rates.items()}
    total = math.fsum(weights.values())
    if total > 0.0:
        return {policy: weight / total for policy, weight in weights.items()}
    return dict.fromkeys(weights, 1.0 / len(weights)) if weights else {}


MAIN_EXPLOITER: Final[Role] = "main-exploiter"


def _exploiter_mixture(settings: ExploiterSettings, situation: Situation) -> dict[PolicyId, float]:
    """Return how often the situation's learner, an exploiter, meets each member."""
    win_rates = situation.matrix.win_rates(situation.learner)
    if situation.role != MAIN_EXPLOITER:
        return _met(pfsp(win_rates, "hard"))
    mains = _main_agents(situation)
    target = newest(mains, situation.ratings).id
    if win_rates.get(target, EVEN) >= settings.learnable_win_rate:
        return {target: 1.0}
    others = {main.id: win_rates[main.id] for main in mains if main.id != situation.learner}
    return _met(pfsp(others, "variance"))


def reset(settings: LeagueSettings, situation: Situation) -> Reset | None:
    """Return why an exploiter starts again; None where it goes on or has not trained yet, and for the main agent."""
    if situation.role in {None, MAIN}:
        return None
    limits = settings.exploiters
    members = {entry.id: entry for entry in situation.population.policies}
    entry = members[situation.learner]
    if entry.role != situation.role:
        return None
    win_rates = situation.matrix.win_rates(entry.id)
    opponent = min(_beaten_by(entry, situation), key=lambda policy: (win_rates[policy], policy))
    trainings = _num_trainings(entry, members)
    has_won = win_rates[opponent] > limits.reset_win_rate
    if not has_won and trainings < limits.max_trainings:
        return None
    if situation.role != MAIN_EXPLOITER:
        drawn = derive_uniform(situation.seed, "reset", situation.iteration)
        if drawn >= limits.league_reset_probability:
            return None
    return Reset(
        policy=entry.id,
        cause="win-rate" if has_won else "trainings",
        opponent=opponent,
        win_rate=win_rates[opponent],
        reset_win_rate=limits.reset_win_rate,
        trainings=trainings,
    )


def _beaten_by(entry: PolicyEntry, situation: Situation) -> Sequence[PolicyId]:
    """Return who an exploiter has to beat: the main agent that it trained against, or all members older than it."""
    assert entry.iteration is not None, "a scripted policy has no role"
    if situation.role == MAIN_EXPLOITER:
        older = [main for main in _main_agents(situation) if _trained_in(main) < entry.iteration]
        return [newest(older, situation.ratings).id]
    return [other.id for other in situation.population.policies if _trained_in(other) < entry.iteration]


def _main_agents(situation: Situation) -> list[PolicyEntry]:
    """Return the main agents, and the run's first networks, from which they come."""
    return [entry for entry in situation.population.policies if entry.role == MAIN or entry.iteration == 0]


def _trained_in(entry: PolicyEntry) -> int:
    return -1 if entry.iteration is None else entry.iteration


def _num_trainings(entry: PolicyEntry, members: Mapping[PolicyId, PolicyEntry]) -> int:
    """Return how many trainings in a row led to ``entry`` since its role began from a first network."""
    number, parent = 1, entry.parent
    while parent is not None and members[parent].role == entry.role:
        number, parent = number + 1, members[parent].parent
    return number


def _met(mixture: Mapping[PolicyId, float]) -> dict[PolicyId, float]:
    return {policy: chance for policy, chance in sorted(mixture.items()) if chance > 0.0}


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
    return _met(mixture)


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
        return _exploiter_mixture(settings.exploiters, situation)
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
