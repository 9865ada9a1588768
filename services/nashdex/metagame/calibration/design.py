"""The design of a tournament with a known truth, and tournaments that are drawn from it. K policies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice
from nashdex.metagame.evidence.imputation import Imputation
from nashdex.metagame.evidence.tally import Floats, Integers, Tally
from nashdex.metagame.ratings.bradley_terry import fit

_MANY = 1e6
"""Games that a true score counts as in the fit of true strengths: the penalty does not matter then."""
_RESULTS = np.array([1.0, 0.5, 0.0])
"""Outcomes of a battle: won, drawn, lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is simulated. Arrays have the order of ``policies``."""

    policies: tuple[PolicyId, ...]
    scores: Floats
    """The truth: P of shape (K, K), ½ on the diagonal."""
    pairs: Integers
    """Side-swapped pairs of every cell, shape (K, K)."""
    single_battles: Integers
    """Battles outside pairs, shape (K, K)."""
    correlation: float
    """Between the two scores of a pair, where a cell's score allows it: near 0 and 1 it cannot be far below 0."""
    draw_share: float
    """Share of draws among the battles of an even cell; lopsided cells have fewer."""
    meta_solver: Choice
    unplayed: Imputation = "block"
    num_draws: int = 500
    anchors: Mapping[str, float] = field(default_factory=dict)
    """Fixed Elo by id."""
    opponents: Mapping[PolicyId, float] = field(default_factory=dict)
    """The mixture that the newest policies were trained against."""
    candidates: tuple[PolicyId, ...] = ()
    """The newest policies."""
    base: PolicyId | None = None
    """The policy that progress is measured against."""
    trained: tuple[PolicyId, ...] = ()
    """The policies that the best is chosen from."""
    scripted: tuple[PolicyId, ...] = ()
    """The policies that the mixture is compared with."""

    def pair_chances(self, one: int, other: int) -> Floats:
        """Return how likely each two results of a pair are, shape (3, 3): won, drawn, lost by policy ``one``."""
        score = float(self.scores[one, other])
        drawn = self.draw_share * 4 * score * (1 - score)
        return _joint(np.array([score - drawn / 2, drawn, 1 - score - drawn / 2]), self.correlation)

    def true_correlation(self) -> float:
        """Return the pooled within-pair correlation that the simulated pairs have."""
        joint = variance = 0.0
        for i, j in np.argwhere(np.triu(self.pairs, 1) > 0):
            chances, number = self.pair_chances(i, j), float(self.pairs[i, j])
            mean = float(chances.sum(axis=1) @ _RESULTS)
            joint += number * float((_RESULTS - mean) @ chances @ (_RESULTS - mean))
            variance += number * float(chances.sum(axis=1) @ (_RESULTS - mean) ** 2)
        return joint / variance if variance else 0.0

    def true_strengths(self) -> Floats:
        """Return the θ of shape (K,) that ratings of endlessly repeated tournaments approach."""
        games = _MANY * (2.0 * self.pairs + self.single_battles).astype(np.float64)
        fixed = {self.policies.index(PolicyId(name)): 0.0 for name in self.anchors}
        if len(set(self.anchors.values())) > 1:
            raise ValueError("a design has one anchor, or several at one Elo")
        return fit(games * self.scores, games, fixed).theta

    def draw(self, generator: np.random.Generator) -> tuple[Tally, Tally]:
        """Return a tournament's battles for selection and those for scoring: even pairs and odd ones."""
        halves = (Tally.nothing(len(self.policies)), Tally.nothing(len(self.policies)))
        for i, j in np.argwhere(np.triu(self.pairs + self.single_battles, 1) > 0):
            chances = self.pair_chances(i, j)
            number = int(self.pairs[i, j])
            for tally, pairs in zip(halves, ((number + 1) // 2, number // 2), strict=True):
                _add_pairs(tally, i, j, generator.multinomial(pairs, chances.ravel()).reshape(3, 3))
            alone = int(self.single_battles[i, j])
            _add_battles(halves[number % 2], i, j, generator.multinomial(alone, chances.sum(axis=1)))
        return halves


def _joint(results: Floats, correlation: float) -> Floats:
    """Return how likely each two results are, shape (3, 3), of battles with chances ``results`` and a correlation.

    Independent battles mixed with equal ones, or with opposite ones as far as the chances allow.
    """
    independent = np.outer(results, results)
    ends = np.concatenate([[0.0], np.cumsum(results)])
    ends[-1] = 1.0
    opposite = np.maximum(
        np.minimum(ends[1:, None], 1 - ends[None, :-1]) - np.maximum(ends[:-1, None], 1 - ends[None, 1:]), 0.0
    )
    mean = float(results @ _RESULTS)
    variance = float(results @ (_RESULTS - mean) ** 2)
    if variance <= 0:
        return independent
    if correlation >= 0:
        mixed = (1 - correlation) * independent + correlation * np.diag(results)
    else:
        lowest = float((_RESULTS - mean) @ opposite @ (_RESULTS - mean)) / variance
        share = min(1.0, correlation / lowest) if lowest < 0 else 0.0
        mixed = (1 - share) * independent + share * opposite
    chances: Floats = np.maximum(mixed, 0.0) / np.maximum(mixed, 0.0).sum()
    return chances


def _add_pairs(tally: Tally, i: int, j: int, counts: Integers) -> None:
    """Add pairs of the cell (i, j), counted by the two results of policy i, (3, 3)."""
    both = counts + counts.T
    one_way = {"won_both": (counts[0, 0], counts[2, 2]), "won_and_drew": (both[0, 1], both[1, 2])}
    for name, (row, column) in one_way.items():
        getattr(tally, name)[i, j] += row
        getattr(tally, name)[j, i] += column
    for name, number in (("split", both[0, 2]), ("drew_both", counts[1, 1])):
        getattr(tally, name)[i, j] += number
        getattr(tally, name)[j, i] += number
    _add_battles(tally, i, j, counts.sum(axis=0) + counts.sum(axis=1))


def _add_battles(tally: Tally, i: int, j: int, results: Integers) -> None:
    """Add battles of the cell (i, j), counted by policy i's result, (3,)."""
    won, drawn, lost = (int(number) for number in results)
    tally.wins[i, j] += won
    tally.wins[j, i] += lost
    for table, number in ((tally.draws, drawn), (tally.games, won + drawn + lost)):
        table[i, j] += number
        table[j, i] += number
