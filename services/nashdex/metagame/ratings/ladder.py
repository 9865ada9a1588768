"""What a ladder would show of the population: online Elo, Glicko-1 and GXE. For display, never for a decision.

The Bradley–Terry ratings beside them use every battle at once.

Elo (1978): after each battle the winner takes K (1 − e) from the loser, where e is the score that their ratings
expected. The order of battles matters, recent ones weigh most, and at K = 32 a rating wanders by tens of points
without end: two policies' online ratings prove nothing about each other.

Glickman (1999), "Parameter estimation in large dynamic paired comparison experiments", in the form of his "The Glicko
system" (equations as there): a rating R with a deviation RD, updated after a rating period from the opponents' ratings
*before* it. GXE is what Pokémon Showdown shows: the expected score, in per cent, against a player drawn from the whole
ladder, which is taken to be at 1500 with a deviation of 130.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log, pi, sqrt
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.battles import BattleRecord
from nashdex.metagame.evidence.estimates import interval_of_mixture
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.evidence.tally import Tally

Name = TypeVar("Name", bound=str)

K_FACTOR = 32.0
INITIAL_ELO = 1000.0
"""Where a ladder of Pokémon Showdown begins."""


def online_elo(
    policies: Sequence[Name],
    battles: Iterable[tuple[Name, Name, float]],
    before: Mapping[Name, float] = MappingProxyType({}),
) -> Mapping[Name, float]:
    """Return every policy's Elo after ``battles``.

    A battle is both policies and the score of the first (1, ½ or 0). A policy that is not in ``before`` begins with
    ``INITIAL_ELO``.
    """
    elo = {policy: before.get(policy, INITIAL_ELO) for policy in policies}
    for one, other, score in battles:
        gained = K_FACTOR * (score - score_of_elo(elo[one] - elo[other]))
        elo[one] += gained
        elo[other] -= gained
    return elo


def score_of_elo(elo: float) -> float:
    """Return the expected score of a policy that is ``elo`` stronger than the other."""
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


_Q = log(10.0) / 400.0
_LADDER_DEVIATION = 130.0


class Glicko(NamedTuple):
    """A rating and how sure it is."""

    rating: float
    deviation: float
    """RD: a standard deviation, in points of rating."""

    @property
    def gxe(self) -> float:
        """GXE in per cent: 100 / (1 + 10^(−g(√(RD² + 130²)) (R − 1500) / 400))."""
        weight = _g(sqrt(self.deviation**2 + _LADDER_DEVIATION**2))
        return float(100.0 / (1.0 + 10.0 ** (-weight * (self.rating - INITIAL.rating) / 400.0)))


INITIAL = Glicko(rating=1500.0, deviation=350.0)
"""Rating of a player before its first battle."""


class PeriodSums(NamedTuple):
    """The sums over the battles of a rating period that a player's rating follows from."""

    information: float = 0.0
    """Σ (q g)² E (1 − E): 1 / d² of equation 10."""
    surprise: float = 0.0
    """Σ g (score − E)."""

    def after(self, player: Glicko) -> Glicko:
        """Return the rating of ``player`` after the period."""
        variance = 1.0 / (1.0 / player.deviation**2 + self.information)
        return Glicko(player.rating + _Q * variance * self.surprise, sqrt(variance))


NO_BATTLES = PeriodSums()


def sums(player: Glicko, results: Iterable[tuple[Glicko, float]], before: PeriodSums = NO_BATTLES) -> PeriodSums:
    """Return the sums of one rating period, added to the sums ``before`` of its earlier battles.

    ``player`` and opponents are as before the period; results are what the player scored (1, ½ or 0). Time that passes
    between periods, which widens a deviation, is for the caller.
    """
    information, surprise = before
    for opponent, score in results:
        weight = _g(opponent.deviation)
        expected = 1.0 / (1.0 + 10.0 ** (-weight * (player.rating - opponent.rating) / 400.0))
        information += (_Q * weight) ** 2 * expected * (1.0 - expected)
        surprise += weight * (score - expected)
    return PeriodSums(information, surprise)


def updated(player: Glicko, results: Iterable[tuple[Glicko, float]]) -> Glicko:
    """Return ``player`` after one rating period; arguments are as in ``sums``."""
    return sums(player, results).after(player)


def sums_of_one_period(
    battles: Iterable[tuple[Name, Name, float]], before: Mapping[Name, PeriodSums]
) -> dict[Name, PeriodSums]:
    """Return every policy's sums after ``battles``, all in one rating period in which everybody is ``INITIAL``.

    In one period every opponent counts as ``INITIAL``, however strong it is: a policy that met only weak ones is
    rated too high. Their order does not matter.

    A battle is both policies and the score of the first (1, ½ or 0).
    """
    of_score = {score: sums(INITIAL, [(INITIAL, score)]) for score in (0.0, 0.5, 1.0)}
    found = dict(before)
    for one, other, score in battles:
        for policy, (information, surprise) in ((one, of_score[score]), (other, of_score[1.0 - score])):
            known = found[policy]
            found[policy] = PeriodSums(known.information + information, known.surprise + surprise)
    return found


def gxe_of_mean_score(score: float, games: int) -> float:
    """Return the GXE after one rating period, from ``INITIAL``: it depends on the mean score and how many games."""
    one = sums(INITIAL, [(INITIAL, score)])
    # Added one by one, as battles are, so that the last digit does not depend on who adds.
    added = (float(np.cumsum(np.full(games, each))[-1]) if games else 0.0 for each in one)
    return PeriodSums(*added).after(INITIAL).gxe


def _g(deviation: float) -> float:
    """Return by how much an opponent's uncertainty discounts a result: equation 8's g(RD)."""
    return 1.0 / sqrt(1.0 + 3.0 * (_Q * deviation / pi) ** 2)


_SCORES = {0: 1.0, 1: 0.0, None: 0.5}
"""Score of the first seat, by the winner's seat."""


class LadderRating(Model):
    """One policy as a ladder would show it."""

    online_elo: float = Field(description="K = 32, from 1000; the last battles weigh most.")
    glicko: float = Field(description="Glicko-1 after one rating period, from 1500.")
    glicko_deviation: NonNegativeFloat = Field(description="RD, from 350.")
    gxe: float = Field(ge=0.0, le=100.0, description="Per cent that the Glicko expects against the ladder at large.")
    gxe_interval: Interval = Field(description="95 %: GXE at both ends of the mean score's interval.")


def gxe_intervals(tally: Tally) -> list[Interval]:
    """Return each policy's interval of GXE, from its mean score over all its battles, by side-swapped pairs.

    The Glicko of one period grows with the mean score alone, so an interval of the one becomes one of the other. The
    Glicko's own deviation takes battles for independent and even, which made it too wide.
    """
    scored, games, freedom = tally.scores, tally.effective_games(), tally.degrees_of_freedom()
    intervals = []
    for place, played in enumerate(tally.games):
        met, total = np.flatnonzero(played), int(played.sum())
        if not total:
            intervals.append(Interval(low=0.0, high=100.0))
            continue
        scores = scored[place, met] / played[met]
        ends = interval_of_mixture(played[met] / total, scores, games[place, met], freedom[place, met])
        low, high = (gxe_of_mean_score(end, total) for end in ends)
        intervals.append(Interval(low=low, high=high))
    return intervals


class LadderSums(Model):
    """One policy's state on the ladder, which later battles go on from."""

    online_elo: float = INITIAL_ELO
    glicko_information: NonNegativeFloat = Field(0.0, description="Σ over its battles of what each says.")
    glicko_surprise: float = Field(0.0, description="Σ over its battles of score above what was expected, discounted.")

    @property
    def period(self) -> PeriodSums:
        """The sums of its rating period."""
        return PeriodSums(self.glicko_information, self.glicko_surprise)


def climbed(before: Mapping[PolicyId, LadderSums], records: Iterable[BattleRecord]) -> dict[PolicyId, LadderSums]:
    """Return every policy's state after ``records``, in the order played, which online Elo depends on."""
    battles = [(*record.policies, _SCORES[record.winner]) for record in records]
    elo = online_elo(tuple(before), battles, before={policy: sums.online_elo for policy, sums in before.items()})
    periods = sums_of_one_period(battles, {policy: sums.period for policy, sums in before.items()})
    return {
        policy: LadderSums(online_elo=elo[policy], glicko_information=information, glicko_surprise=surprise)
        for policy, (information, surprise) in periods.items()
    }


def ladder_ratings(sums: Mapping[PolicyId, LadderSums], tally: Tally) -> dict[PolicyId, LadderRating]:
    """Return every policy's ladder ratings, from its state and all battles; the tally is in the order of ``sums``."""
    rated = {}
    for (policy, state), interval in zip(sums.items(), gxe_intervals(tally), strict=True):
        glicko = state.period.after(INITIAL)
        rated[policy] = LadderRating(
            online_elo=state.online_elo,
            glicko=glicko.rating,
            glicko_deviation=glicko.deviation,
            gxe=glicko.gxe,
            gxe_interval=interval,
        )
    return rated
