"""Glicko-1 and GXE, as a ladder shows them: for display beside the Bradley–Terry ratings.

Glickman (1999), "Parameter estimation in large dynamic paired comparison experiments", in the form of his "The Glicko
system" (equations as there): a rating R with a deviation RD, updated after a rating period from the opponents' ratings
*before* it. GXE is what Pokémon Showdown shows: the expected score, in per cent, against a player drawn from the whole
ladder, which is taken to be at 1500 with a deviation of 130.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log, pi, sqrt
from typing import NamedTuple, TypeVar

import numpy as np

Name = TypeVar("Name", bound=str)

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

    Args:
        player: before the period. Its deviation is what it is: time passing between periods is for the caller.
        results: each opponent, before the period, and what the player scored against it (1, ½ or 0).
        before: the sums of the period's earlier battles.
    """
    information, surprise = before
    for opponent, score in results:
        weight = _g(opponent.deviation)
        expected = 1.0 / (1.0 + 10.0 ** (-weight * (player.rating - opponent.rating) / 400.0))
        information += (_Q * weight) ** 2 * expected * (1.0 - expected)
        surprise += weight * (score - expected)
    return PeriodSums(information, surprise)


def updated(player: Glicko, results: Iterable[tuple[Glicko, float]]) -> Glicko:
    """Return ``player`` after one rating period; arguments as of ``sums``."""
    return sums(player, results).after(player)


def sums_of_one_period(
    battles: Iterable[tuple[Name, Name, float]], before: Mapping[Name, PeriodSums]
) -> dict[Name, PeriodSums]:
    """Return every policy's sums after ``battles``, all in one rating period in which everybody is ``INITIAL``.

    In one period every opponent counts as ``INITIAL``, however strong it is: a policy that met only weak ones is
    rated too high. Their order does not matter.

    Args:
        battles: both policies, and what the first scored (1, ½ or 0).
        before: the sums so far of everybody who is rated.
    """
    results: dict[Name, list[tuple[Glicko, float]]] = {policy: [] for policy in before}
    for one, other, score in battles:
        results[one].append((INITIAL, score))
        results[other].append((INITIAL, 1.0 - score))
    return {policy: sums(INITIAL, met, before[policy]) for policy, met in results.items()}


def glicko_after_one_period(
    policies: Sequence[Name], battles: Iterable[tuple[Name, Name, float]]
) -> dict[Name, Glicko]:
    """Return every policy's Glicko after ``battles``, all in one rating period; without a battle ``INITIAL``."""
    found = sums_of_one_period(battles, dict.fromkeys(policies, NO_BATTLES))
    return {policy: of_policy.after(INITIAL) for policy, of_policy in found.items()}


def gxe_of_mean_score(score: float, games: int) -> float:
    """Return the GXE after one rating period, from ``INITIAL``: it depends on the mean score and how many games."""
    one = sums(INITIAL, [(INITIAL, score)])
    # Added one by one, as battles are, so that the last digit does not depend on who adds.
    added = (float(np.cumsum(np.full(games, each))[-1]) if games else 0.0 for each in one)
    return PeriodSums(*added).after(INITIAL).gxe


def _g(deviation: float) -> float:
    """Return by how much an opponent's uncertainty discounts a result: equation 8's g(RD)."""
    return 1.0 / sqrt(1.0 + 3.0 * (_Q * deviation / pi) ** 2)
