"""Glicko-1 and GXE, as a ladder shows them: for display beside the Bradley–Terry ratings.

Glickman (1999), "Parameter estimation in large dynamic paired comparison experiments", in the form of his "The Glicko
system" (equations as there): a rating R with a deviation RD, updated after a rating period from the opponents' ratings
*before* it. GXE is what Pokémon Showdown shows: the expected score, in per cent, against a player drawn from the whole
ladder, which is taken to be at 1500 with a deviation of 130.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat
from math import log, pi, sqrt
from typing import NamedTuple, TypeVar

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
"""Of a player before its first battle."""


def updated(player: Glicko, results: Iterable[tuple[Glicko, float]]) -> Glicko:
    """Return ``player`` after one rating period.

    Args:
        player: before the period. Its deviation is what it is: time passing between periods is for the caller.
        results: each opponent, before the period, and what the player scored against it (1, ½ or 0).
    """
    information, surprise = 0.0, 0.0
    for opponent, score in results:
        weight = _g(opponent.deviation)
        expected = 1.0 / (1.0 + 10.0 ** (-weight * (player.rating - opponent.rating) / 400.0))
        information += (_Q * weight) ** 2 * expected * (1.0 - expected)
        surprise += weight * (score - expected)
    variance = 1.0 / (1.0 / player.deviation**2 + information)
    return Glicko(player.rating + _Q * variance * surprise, sqrt(variance))


def glicko_after_one_period(
    policies: Sequence[Name], battles: Iterable[tuple[Name, Name, float]]
) -> dict[Name, Glicko]:
    """Return every policy's Glicko after ``battles``, all in one rating period, from ``INITIAL``.

    In one period every opponent counts as ``INITIAL``, however strong it is: a policy that met only weak ones is
    rated too high. Their order does not matter.

    Args:
        policies: who is rated; without a battle one keeps ``INITIAL``.
        battles: both policies, and what the first scored (1, ½ or 0).
    """
    results: dict[Name, list[tuple[Glicko, float]]] = {policy: [] for policy in policies}
    for one, other, score in battles:
        results[one].append((INITIAL, score))
        results[other].append((INITIAL, 1.0 - score))
    return {policy: updated(INITIAL, met) for policy, met in results.items()}


def gxe_of_mean_score(score: float, games: int) -> float:
    """Return the GXE after one rating period, from ``INITIAL``: it depends on the mean score and how many games."""
    return updated(INITIAL, repeat((INITIAL, score), games)).gxe


def _g(deviation: float) -> float:
    """Return by how much an opponent's uncertainty discounts a result: equation 8's g(RD)."""
    return 1.0 / sqrt(1.0 + 3.0 * (_Q * deviation / pi) ** 2)
