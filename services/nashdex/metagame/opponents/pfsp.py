"""Prioritised fictitious self-play (PFSP).

Vinyals et al. 2019, "Grandmaster level in StarCraft II using multi-agent reinforcement learning", Methods.
An opponent's weight is f(w), where w is the learner's win rate against it: hard (1 − w)² prefers those that it loses
to, and variance w (1 − w) its equals.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final, Literal

from nashdex.core.ids import PolicyId

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
