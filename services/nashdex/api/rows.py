"""One row of each table of a run. Every estimate has the 95 % interval from ``low`` to ``high``."""

from typing import NamedTuple

from nashdex.core.ids import PolicyId


class PolicyRow(NamedTuple):
    """A member of the population."""

    policy: PolicyId
    name: str
    kind: str
    iteration: int | None
    """Iteration that trained it; None for the initial population."""
    parent: PolicyId | None
    is_anchor: bool
    games: int
    """Battles in the ledgers."""


class PayoffRow(NamedTuple):
    """The score of ``policy`` against ``opponent``: from battles, or exact."""

    policy: PolicyId
    opponent: PolicyId
    value: float
    """Mean score from 0 to 1; where payoffs are exact, the payoff in the game's units."""
    low: float
    high: float
    wins: int | None
    """None where payoffs are exact, like ``draws`` and ``losses``."""
    draws: int | None
    losses: int | None


class RatingRow(NamedTuple):
    """A Bradley–Terry rating after the newest iteration, in Elo."""

    policy: PolicyId
    elo: float
    low: float
    high: float
    standard_error: float


class MixtureRow(NamedTuple):
    """A policy's probability in the meta-strategy of an iteration."""

    iteration: int
    policy: PolicyId
    probability: float
    low: float
    high: float


class ExploitabilityRow(NamedTuple):
    """One estimate of exploitability. Different estimators are never compared."""

    iteration: int
    estimator: str
    value: float
    low: float
    high: float


class CurveRow(NamedTuple):
    """One measured value after one optimiser step of a training."""

    iteration: int
    policy: PolicyId
    name: str
    update: int
    value: float


class BattleRow(NamedTuple):
    """One finished battle of a tournament."""

    iteration: int
    first: PolicyId
    """Policy at seat 0."""
    second: PolicyId
    pair: int
    """Side-swapped pair within the two policies' cell."""
    seed: int
    winner: int | None
    """Seat; None for a draw."""
    turns: int
    decisions: int
    """Decisions of both seats."""
