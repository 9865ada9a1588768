"""Online Elo, as a ladder shows it: for display beside the Bradley–Terry ratings, which use every battle at once.

Elo (1978). After each battle the winner takes K (1 − e) from the loser, where e is the score that their ratings
expected. The order of battles matters, recent ones weigh most, and at K = 32 a rating wanders by tens of points
without end: two policies' online ratings prove nothing about each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

Name = TypeVar("Name", bound=str)

K_FACTOR = 32.0
INITIAL_ELO = 1000.0
"""Where a ladder of Pokémon Showdown begins."""


def online_elo(
    policies: Sequence[Name],
    battles: Iterable[tuple[Name, Name, float]],
    k_factor: float = K_FACTOR,
    before: Mapping[Name, float] = MappingProxyType({}),
) -> Mapping[Name, float]:
    """Return every policy's Elo after ``battles``.

    Args:
        policies: who is rated; without a battle one keeps ``INITIAL_ELO``.
        battles: both policies and the score of the first (1, ½ or 0), in the order played.
        k_factor: the most that one battle can move a rating.
        before: ratings after earlier battles; a policy without one begins with ``INITIAL_ELO``.
    """
    elo = {policy: before.get(policy, INITIAL_ELO) for policy in policies}
    for one, other, score in battles:
        gained = k_factor * (score - score_of_elo(elo[one] - elo[other]))
        elo[one] += gained
        elo[other] -= gained
    return elo


def score_of_elo(elo: float) -> float:
    """Return the expected score of a policy that is ``elo`` stronger than the other."""
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))
