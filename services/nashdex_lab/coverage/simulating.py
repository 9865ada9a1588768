"""Tournaments with a known truth, drawn from a design, and which of their intervals hold the truth. K policies.

Each tournament goes through the functions that publish a run's numbers. ``NUMBERS`` names them; a number that does
not apply to a design, such as progress without two trained policies, is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.embedding import Payoffs, first_disc, share_interval
from nashdex.metagame.analysis.exploitability import dominance_gap, gap_of_tallies
from nashdex.metagame.analysis.progress import improvement_of_tallies, mixture_scores
from nashdex.metagame.analysis.solving import EmpiricalGame, solve_game
from nashdex.metagame.calibration.documents import CalibratedNumber
from nashdex.metagame.evidence.estimates import CONFIDENCE, EVEN, Floats, cell_intervals, centred
from nashdex.metagame.evidence.imputation import Imputation
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Integers, Tally
from nashdex.metagame.ratings.bradley_terry import expected_scores_of, fit
from nashdex.metagame.ratings.ladder import gxe_intervals, gxe_of_mean_score
from nashdex.metagame.ratings.table import BASE_ELO, ELO_PER_STRENGTH, RatingTable
from nashdex.metagame.solvers.registry import configured

_MANY = 1e6
"""Games that a true score counts as in the fit of true strengths: the penalty does not matter then."""
_RESULTS = np.array([1.0, 0.5, 0.0])
"""Outcomes of a battle: won, drawn, lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Design of the simulated tournaments. Arrays have the order of ``policies``."""

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


NUMBERS: Mapping[str, bool] = {
    "payoff": False,
    "elo": False,
    "elo_difference": False,
    "meta_strategy": True,
    "restricted": True,
    "legacy_dominance_gap": True,
    "best_response_gap": False,
    "mixture_score": False,
    "progress": False,
    "pair_correlation": False,
    "entropy": True,
    "intransitivity": True,
    "intransitivity_by_chance": True,
    "embedding_share": True,
    "gxe": False,
}
"""The published intervals by name, and whether each holds more than its nominal share by intention."""

_NO_CYCLE = 1e-3
"""In expected score: a game whose ratings miss less has no disc but rounding."""

Held = Mapping[str, tuple[int, int]]
"""By number: how many of a tournament's intervals hold the truth, and how many there are."""


@dataclass(frozen=True, slots=True)
class Truth:
    """True values, which the intervals of a design should hold."""

    payoffs: Floats
    """A of shape (K, K)."""
    elo: Floats
    """Shape (K,), on the anchors' scale."""
    strategy: Floats
    """The meta-strategy of the true payoffs, shape (K,)."""
    correlation: float
    entropy: float
    """Entropy of the mixture, in nats."""
    intransitivity: float
    """‖A − A_BT‖ as ratings publish it, with both parts true."""
    transitive: Design
    """The same design in a transitive game: the one of the true ratings."""

    @classmethod
    def of(cls, design: Design) -> "Truth":
        """Return the truth of ``design``."""
        theta = design.true_strengths()
        base = next(iter(design.anchors.values()), BASE_ELO)
        payoffs = centred(design.scores)
        transitive = Design(
            **{name: getattr(design, name) for name in Design.__slots__} | {"scores": expected_scores_of(theta)}
        )
        strategy = configured(design.meta_solver).one_population(payoffs).strategy
        games = 2 * design.pairs + design.single_battles
        misfit = ((design.scores - expected_scores_of(theta)) ** 2 * games).sum() / max(1, games.sum())
        return cls(
            payoffs=payoffs,
            elo=base + ELO_PER_STRENGTH * theta,
            strategy=strategy,
            entropy=float(-(strategy * np.log(np.where(strategy > 0, strategy, 1.0))).sum()),
            intransitivity=float(np.sqrt(misfit)),
            correlation=design.true_correlation(),
            transitive=transitive,
        )


def held(design: Design, truth: Truth, seed: int) -> Held:
    """Return which intervals of one simulated tournament hold the truth."""
    generator = np.random.default_rng(derive_seed(seed, "tournament"))
    selection, scoring = design.draw(generator)
    found: dict[str, tuple[int, int]] = {}
    for name, interval, value in _intervals(design, truth, selection, scoring, seed):
        good, number = found.get(name, (0, 0))
        # Linear programs and iterations leave rounding errors.
        found[name] = (good + (interval.low - 1e-9 <= value <= interval.high + 1e-9), number + 1)
    return found


def _intervals(
    design: Design, truth: Truth, selection: Tally, scoring: Tally, seed: int
) -> Iterator[tuple[str, Interval, float]]:
    policies, size = design.policies, len(design.policies)
    tally = selection + scoring
    matrix = SampledCounts.of(policies, tally)
    strategy, analysis = solve_game(
        EmpiricalGame(matrix, anchors=design.anchors, history=policies),
        configured(design.meta_solver),
        unplayed=design.unplayed,
        num_draws=design.num_draws,
        seed=derive_seed(seed, "solve"),
    )
    low, high = cell_intervals(tally)
    for i, j in np.argwhere(np.triu(tally.games, 1) > 0):
        yield "payoff", Interval(low=float(low[i, j]), high=float(high[i, j])), EVEN + truth.payoffs[i, j]
    for place, policy in enumerate(policies):
        yield "meta_strategy", strategy.intervals[policy], truth.strategy[place]
    yield from _ratings(design, truth, analysis)
    yield "entropy", strategy.entropy, truth.entropy
    if size > 2:  # noqa: PLR2004 - two policies are always transitive
        yield "intransitivity", analysis.intransitivity_interval, truth.intransitivity
        yield from _transitive(truth.transitive, seed)
    mixture = np.array([strategy.meta_strategy[policy] for policy in policies])
    estimates = analysis.exploitability
    if estimates.restricted is not None:
        yield "restricted", estimates.restricted, float((truth.payoffs @ mixture).max())
    if estimates.legacy_dominance_gap is not None:
        yield "legacy_dominance_gap", estimates.legacy_dominance_gap, float(dominance_gap(truth.payoffs, mixture))
    if analysis.pairs is not None and analysis.pairs.correlation is not None:
        yield "pair_correlation", analysis.pairs.correlation, truth.correlation
    for score in mixture_scores(matrix, strategy.meta_strategy, design.scripted):
        yield "mixture_score", score, EVEN + float(mixture @ truth.payoffs[:, policies.index(score.opponent)])
    for place, found in enumerate(gxe_intervals(tally)):
        if played := int(tally.games[place].sum()):
            mean = float(design.scores[place] @ tally.games[place]) / played
            yield "gxe", found, gxe_of_mean_score(mean, played)
    yield from _cyclic_part(design, truth, tally, analysis)
    yield from _chosen(design, truth, selection, scoring, seed)


def _cyclic_part(
    design: Design, truth: Truth, tally: Tally, table: RatingTable
) -> Iterator[tuple[str, Interval, float]]:
    """Yield the share of the largest disc, where the report shows it."""
    true_disc = first_disc(design.policies, truth.payoffs, centred(truth.transitive.scores))
    if true_disc is None or truth.intransitivity < _NO_CYCLE or table.intransitivity <= table.intransitivity_by_chance:
        return
    elo = np.array([table.ratings[policy].elo for policy in design.policies])
    payoffs = Payoffs.of_counts(design.policies, tally, elo, design.num_draws)
    disc = first_disc(design.policies, payoffs.estimates, payoffs.transitive)
    if disc is not None and (found := share_interval(disc.share, payoffs)):
        yield "embedding_share", found, true_disc.share


def _ratings(design: Design, truth: Truth, table: RatingTable) -> Iterator[tuple[str, Interval, float]]:
    for place, policy in enumerate(design.policies):
        if policy not in design.anchors:
            rating = table.ratings[policy]
            yield "elo", Interval(low=rating.low, high=rating.high), float(truth.elo[place])
        for before in range(place):
            other = design.policies[before]
            if not {policy, other} <= design.anchors.keys():
                yield "elo_difference", table.gap(policy, other), float(truth.elo[place] - truth.elo[before])


def _chosen(
    design: Design, truth: Truth, selection: Tally, scoring: Tally, seed: int
) -> Iterator[tuple[str, Interval, float]]:
    """Yield the intervals of policies that are chosen on one half of the battles and scored on the other."""
    policies, both = design.policies, selection + scoring
    if design.candidates:
        gap = gap_of_tallies(
            design.opponents,
            design.candidates,
            policies,
            selection=selection,
            scoring=both if len(design.candidates) == 1 else scoring,
        )
        if gap is not None and gap.policy is not None:
            sigma = np.array([design.opponents.get(policy, 0.0) for policy in policies])
            yield "best_response_gap", gap, float(truth.payoffs[policies.index(gap.policy)] @ sigma / sigma.sum())
    if design.base is not None and design.trained:
        found = improvement_of_tallies(
            policies,
            design.base,
            design.trained,
            selection=selection,
            scoring=both if len(design.trained) == 1 else scoring,
            anchors=design.anchors,
            num_draws=design.num_draws,
            seed=derive_seed(seed, "progress"),
        )
        if found is not None:
            best, base = policies.index(found.best), policies.index(found.base)
            yield "progress", found.elo, truth.elo[best] - truth.elo[base]


def _transitive(design: Design, seed: int) -> Iterator[tuple[str, Interval, float]]:
    """Yield whether a tournament of a transitive game stays below what chance allows."""
    tally = sum(
        design.draw(np.random.default_rng(derive_seed(seed, "transitive"))), Tally.nothing(len(design.policies))
    )
    table = SampledCounts.of(design.policies, tally).rated(
        design.anchors, num_draws=design.num_draws, seed=derive_seed(seed, "ratings")
    )
    yield "intransitivity_by_chance", Interval(low=0.0, high=table.intransitivity_by_chance), table.intransitivity


def summarised(found: Sequence[Held]) -> tuple[CalibratedNumber, ...]:
    """Return the coverage of every number over many tournaments.

    Intervals of one tournament are not independent, so the standard error takes the tournament as the unit: the error
    of a ratio of two sums (Cochran 1977, section 6.4). Where all or none hold the truth, about one miss is assumed.
    """
    numbers = []
    for name, conservative in NUMBERS.items():
        counts = np.array([each[name] for each in found if name in each], dtype=np.float64).reshape(-1, 2)
        if not len(counts):
            continue
        good, total = counts.T
        coverage = float(good.sum() / total.sum())
        error = float(np.sqrt(((good - coverage * total) ** 2).sum())) / float(total.sum())
        if not error:
            share = 1.0 / (len(counts) + 2.0)
            error = float(np.sqrt(share * (1.0 - share) / len(counts)))
        numbers.append(
            CalibratedNumber(
                name=name,
                nominal=CONFIDENCE,
                coverage=coverage,
                standard_error=error,
                sets=len(counts),
                conservative=conservative,
            )
        )
    return tuple(numbers)
