"""Elo ratings of the population, their errors, and how far a single number per policy can be trusted at all.

Elo = 400 θ / ln 10 with θ the Bradley–Terry strengths. Ratings are relative: anchors fix the scale by id, and without
any the mean is ``BASE_ELO``. A rating assumes that strength is transitive, so the table has an intransitivity too.

Errors come from similar tournaments: each cell's groups of battles are drawn again, and the strengths fitted again.
Groups are side-swapped pairs, and each battle outside a pair. K policies, D draws, N played cells.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.errors import DataError
from nashdex.core.seeds import derive_seed
from nashdex.metagame.evidence.estimates import (
    CONFIDENCE,
    EVEN,
    NORMAL_QUANTILE,
    Floats,
    Integers,
    Tally,
    cell_intervals,
)
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.large import is_large
from nashdex.metagame.evidence.tally import draws_a_block, in_blocks
from nashdex.metagame.ratings.bradley_terry import (
    Strengths,
    expected_scores_of,
    fit,
    fit_samples,
    sandwich_covariance,
    variances_of_gaps,
)

_KINDS = np.array(
    [(0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 2), (0, 2, 2), (1, 0, 1), (1, 0, 2), (1, 1, 2), (2, 0, 2)], dtype=np.int64
)
"""Wins, draws and games of each kind of group, wins of the cell's first policy; the draws' order depends on it."""
_IS_PAIR = _KINDS[:, 2] > 1


def resampled_strengths(
    names: Sequence[str], tally: Tally, fixed: Mapping[int, float], near: Strengths, *, num_draws: int, seed: int
) -> Floats:
    """Return the θ of D tournaments with groups drawn again, shape (D, K).

    A cell's draws follow from its ids: ``names``, in the order of the tally, are sorted. ``fixed`` holds θ of anchors
    by index, and ``near`` is the fit to the tally itself.

    Raises:
        TryAgainError: they need a temporary file, and it does not fit on its disk.
    """
    size = len(names)
    rows, columns = np.nonzero(np.triu(tally.games, 1))
    groups = np.stack([counts[rows, columns] for counts in _groups(tally)], axis=-1)
    has_both = np.logical_and(groups[:, _IS_PAIR].any(axis=1), groups[:, ~_IS_PAIR].any(axis=1))
    varied_rows, varied_columns = rows[has_both], columns[has_both]
    scored = np.zeros((size, num_draws))

    def games_of_varied_cells() -> Iterator[Floats]:
        """Add every cell's scores, and yield its games where draws differ in their number."""
        for i, j, counts, varies in zip(rows.tolist(), columns.tolist(), groups, has_both, strict=True):
            generator = np.random.default_rng(derive_seed(seed, "bootstrap", names[i], names[j]))
            present = counts > 0
            times = counts[present]
            drawn = generator.multinomial(times.sum(), times / times.sum(), size=num_draws) @ _KINDS[present]
            scores = drawn[:, 0] + drawn[:, 1] / 2
            scored[i] += scores
            scored[j] += drawn[:, 2] - scores
            if varies:
                yield drawn[:, 2].astype(np.float64)

    found, start = [], 0
    block = draws_a_block(size, num_draws)
    for varied in in_blocks(games_of_varied_cells(), int(has_both.sum()), num_draws, block):
        played = np.repeat(tally.games[None].astype(np.float64), varied.shape[1], axis=0)
        played[:, varied_rows, varied_columns] = played[:, varied_columns, varied_rows] = varied.T
        of_block = np.ascontiguousarray(scored[:, start : start + len(played)].T)
        found.append(fit_samples(of_block, played, fixed, near))
        start += len(played)
    return np.concatenate(found)


def _groups(tally: Tally) -> tuple[Integers, ...]:
    """Return how many groups of each of ``_KINDS`` every cell has, shape (K, K) each."""
    wins, draws, losses = tally.single_battles()
    return (
        losses,
        tally.won_both.T,
        draws,
        tally.won_and_drew.T,
        tally.drew_both,
        wins,
        tally.split,
        tally.won_and_drew,
        tally.won_both,
    )


def _resampling_variances(tally: Tally, theta: Floats) -> Floats:
    """Return the variance of each cell's score beyond its expected one where its groups are drawn again, shape (K, K).

    With it the covariance of the bootstrap follows without draws, to first order: what a large population uses.
    """
    expected = expected_scores_of(theta)
    num, total, squares = (np.zeros_like(expected) for _ in range(3))
    for (wins, draws, games), counts in zip(_KINDS.tolist(), _groups(tally), strict=True):
        beyond = wins + draws / 2 - games * expected
        num += counts
        total += counts * beyond
        squares += counts * beyond**2
    return squares - total**2 / np.maximum(num, 1)


BASE_ELO = 1000.0
"""Elo of the default anchor, or of the mean where there is none."""
ELO_PER_STRENGTH = 400.0 / math.log(10.0)
_CHANCE_QUANTILE = 0.95
_MOST_REVERSALS = 3
_MOST_COMPARED = 10
"""Highest rated policies of a large population whose differences to all others are in its table."""
_RUN_AWAY = 1000.0
"""Elo by which the penalty moves nobody who won and lost some battles."""
_MUCH = 0.5
"""Standard errors that the penalty may move a rating without a warning."""


class Rating(Model):
    """One policy's Elo. The interval is ± 1.96 standard errors, relative to the anchors."""

    elo: float
    standard_error: NonNegativeFloat = Field(
        description="The larger of the sandwich's and the bootstrap's; anchors 0. Huge where no chain of battles ties "
        "the policy to an anchor."
    )
    low: float
    high: float
    sandwich_standard_error: NonNegativeFloat = Field(
        description="From the Fisher information and each cell's observed variance by side-swapped pairs."
    )
    bootstrap_standard_error: NonNegativeFloat = Field(description="Side-swapped pairs drawn again as wholes.")
    games: NonNegativeInt
    elo_without_penalty: float | None = Field(
        description="Elo by maximum likelihood; null where that has no maximum: the policy, or a group around it, "
        "won or lost everything."
    )


class EloGap(Estimate):
    """Elo of one policy minus Elo of another; their errors are correlated, so this is no difference of intervals."""

    standard_error: NonNegativeFloat


class RatingTable(Model):
    """Ratings with their errors, their intransitivity and warnings."""

    rating_estimator: str = Field("bradley-terry-firth", description="Estimator of every Elo and its interval.")
    rating_confidence: float = Field(CONFIDENCE, description="Confidence of each interval of a rating or a difference.")
    ratings: dict[str, Rating]
    gap_standard_errors: dict[str, dict[str, NonNegativeFloat]] = Field(
        description="Standard error of each difference of two Elos. In a population of more than 257 policies, of the "
        "differences to anchors and to the ten highest rated policies."
    )
    anchors: dict[str, float] = Field(description="Elo that was fixed, by policy.")
    intransitivity: NonNegativeFloat = Field(
        description="‖A − A_BT‖: root mean square over cells, weighed by their battles, in expected score. 0 where one "
        "number a policy explains every payoff."
    )
    intransitivity_interval: Interval = Field(
        description="Interval of the true ‖A − A_BT‖, 95 %, conservative: ± what noise alone stays below, by the "
        "triangle inequality."
    )
    intransitivity_by_chance: NonNegativeFloat = Field(
        description="What 95 % of transitive games with these ratings and as many battles stay below."
    )
    largest_misfit: float = Field(description="Largest |A − A_BT| of a played cell.")
    largest_misfit_cell: tuple[str, str] | None
    warnings: tuple[str, ...] = Field(description="Where a rating misleads.")

    def gap(self, one: str, other: str) -> EloGap:
        """Return Elo(one) − Elo(other) with its own interval."""
        value = self.ratings[one].elo - self.ratings[other].elo
        errors = self.gap_standard_errors
        error = errors[one][other] if one in errors else errors[other][one]
        return EloGap(
            value=value,
            standard_error=error,
            low=value - NORMAL_QUANTILE * error,
            high=value + NORMAL_QUANTILE * error,
        )


def rate(
    policies: Sequence[str],
    tally: Tally,
    *,
    anchors: Mapping[str, float],
    num_draws: int,
    seed: int,
    compared: Collection[str] = (),
) -> RatingTable:
    """Rate ``policies`` from their battles.

    The result does not depend on the order of ``policies``. ``anchors`` are fixed Elo by id. Clusters of the bootstrap
    are side-swapped pairs and each other battle. In a large population only differences to ``compared`` policies,
    anchors and the highest rated ones are computed.

    Raises:
        DataError: an anchor is not a policy here.
    """
    unknown = sorted(set(anchors) - set(policies))
    if unknown:
        raise DataError(f"anchor {unknown[0]!r} is none of the rated policies {list(policies)}")
    order = sorted(range(len(policies)), key=policies.__getitem__)
    names, tally = [policies[i] for i in order], tally.over(order)
    fixed = {names.index(policy): (elo - BASE_ELO) / ELO_PER_STRENGTH for policy, elo in anchors.items()}
    scores, games = tally.scores, tally.games

    strengths = fit(scores, games.astype(np.float64), fixed)
    elo = BASE_ELO + ELO_PER_STRENGTH * strengths.theta
    plain = _without_penalty(names, scores, games, fixed, elo)
    free = np.array([i not in fixed for i in range(len(names))])
    # Anchors did not move; what a covariance of constants leaves is rounding.
    sandwich = sandwich_covariance(strengths, _score_variances(names, tally, strengths.theta, plain))
    if is_large(len(names)):
        resampled = sandwich_covariance(strengths, _resampling_variances(tally, strengths.theta))
    else:
        drawn = resampled_strengths(names, tally, fixed, strengths, num_draws=num_draws, seed=seed)
        resampled = np.cov(drawn, rowvar=False)
    bootstrap = np.where(np.outer(free, free), resampled, 0.0)
    variances = np.maximum(sandwich.diagonal(), bootstrap.diagonal())
    gap_variances = np.maximum(variances_of_gaps(sandwich), variances_of_gaps(bootstrap))
    is_tied = tied(games, fixed or [0])
    if not is_tied.all():
        # No battle measures how far two groups that never met are apart: the faint games alone tie them.
        variances = np.where(is_tied, variances, strengths.covariance.diagonal())
        gap_variances = np.where(_apart(games, is_tied), variances_of_gaps(strengths.covariance), gap_variances)
    errors = ELO_PER_STRENGTH * np.sqrt(variances)
    gaps = ELO_PER_STRENGTH * np.sqrt(np.maximum(gap_variances, 0.0))
    compared_rows: Sequence[int] = range(len(names))
    if is_large(len(names)):
        highest = np.argsort(-elo, kind="stable")[:_MOST_COMPARED].tolist()
        compared_rows = sorted({*highest, *fixed, *map(names.index, compared)})
    misfit, by_chance, largest, cell = _misfit(names, tally, strengths.theta, num_draws, seed)
    return RatingTable(
        ratings={
            policy: Rating(
                elo=anchors.get(policy, float(elo[i])),
                standard_error=errors[i],
                low=elo[i] - NORMAL_QUANTILE * errors[i],
                high=elo[i] + NORMAL_QUANTILE * errors[i],
                sandwich_standard_error=ELO_PER_STRENGTH * math.sqrt(max(sandwich[i, i], 0.0)),
                bootstrap_standard_error=ELO_PER_STRENGTH * math.sqrt(max(bootstrap[i, i], 0.0)),
                games=int(games[i].sum()),
                elo_without_penalty=plain[policy],
            )
            for i, policy in enumerate(names)
        },
        gap_standard_errors={
            names[i]: {other: float(gaps[i, j]) for j, other in enumerate(names)} for i in compared_rows
        },
        anchors=dict(sorted(anchors.items())),
        intransitivity=misfit,
        intransitivity_interval=Interval(low=max(0.0, misfit - by_chance), high=misfit + by_chance),
        intransitivity_by_chance=by_chance,
        largest_misfit=largest,
        largest_misfit_cell=cell,
        warnings=(
            *_unanchored(names, is_tied, fixed),
            *_unbounded(names, scores, games, fixed),
            *_moved_by_the_penalty(names, elo, plain, errors),
            *(_reversals(names, tally, elo, misfit, by_chance) if misfit > by_chance else ()),
        ),
    )


def _without_penalty(
    names: Sequence[str], scores: Floats, games: Integers, fixed: Mapping[int, float], elo: Floats
) -> dict[str, float | None]:
    """Return the Elo by plain maximum likelihood; None where it runs away."""
    near = (elo - BASE_ELO) / ELO_PER_STRENGTH if is_large(len(names)) else None
    theta = fit(scores, games.astype(np.float64), fixed, penalised=False, near=near).theta
    plain = BASE_ELO + ELO_PER_STRENGTH * theta
    return {
        name: float(plain[place]) if abs(plain[place] - elo[place]) < _RUN_AWAY else None
        for place, name in enumerate(names)
    }


def _score_variances(names: Sequence[str], tally: Tally, theta: Floats, plain: Mapping[str, float | None]) -> Floats:
    """Return the variance of each cell's score, shape (K, K): the observed one by pairs.

    One battle has no observed variance. The variance 0 of a policy that won or lost everything says nothing about its
    rating. Both get the variance predicted by the ratings.
    """
    bounded = np.array([plain[name] is not None for name in names])
    observed = np.logical_and.outer(bounded, bounded) & (tally.games > 1)
    expected = expected_scores_of(theta)
    predicted = tally.games * expected * (1.0 - expected) * tally.design_effects()
    return np.where(observed, tally.score_variances(), predicted)


def _moved_by_the_penalty(
    names: Sequence[str], elo: Floats, plain: Mapping[str, float | None], errors: Floats
) -> list[str]:
    """Warn where Elo with and without penalty differ by half a standard error."""
    warnings = []
    for name, rated, error in zip(names, elo.tolist(), errors.tolist(), strict=True):
        without = plain[name]
        if without is not None and abs(without - rated) > _MUCH * error > 0:
            warnings.append(
                f"{name!r} is rated {rated:.0f} with Firth's penalty and {without:.0f} without: more than half its "
                f"standard error of {error:.0f}; more battles lessen the difference"
            )
    return warnings


def _misfit(
    names: Sequence[str], tally: Tally, theta: Floats, num_draws: int, seed: int
) -> tuple[float, float, float, tuple[str, str] | None]:
    """Return ‖A − A_BT‖, its bound by chance alone, the largest entry and its cell.

    Every battle weighs the same, so the noise of a cell with few does not hide a cycle among those with many.
    Chance: tournaments drawn from the fitted ratings with as many decisive battles, their deviations scaled by the
    root of the design effects. They are not fitted again, which makes them misfit a little more than a fitted one
    would: a warning errs on the quiet side.
    """
    scores, games = tally.scores, tally.games
    played = np.argwhere(np.triu(games, 1))
    if not len(played):
        return 0.0, 0.0, 0.0, None
    rows, columns = played.T
    expected, met = expected_scores_of(theta)[rows, columns], games[rows, columns]
    residuals = np.abs(scores[rows, columns] / met - expected)
    generator = np.random.default_rng(derive_seed(seed, "transitive"))
    spread, weights = np.sqrt(tally.design_effects()[rows, columns]), met / met.sum()
    if is_large(len(names)):
        by_chance = _misfit_by_chance(expected, met, spread, weights)
    else:
        misfits, block = [], draws_a_block(len(names), num_draws)
        for start in range(0, num_draws, block):
            size = (min(block, num_draws - start), len(met))
            drawn = generator.binomial(met, expected, size=size) / met - expected
            drawn *= spread
            misfits.append(np.sqrt(drawn**2 @ weights))
        by_chance = float(np.quantile(np.concatenate(misfits), _CHANCE_QUANTILE))
    worst = int(residuals.argmax())
    cell = (names[rows[worst]], names[columns[worst]])
    return float(np.sqrt(residuals**2 @ (met / met.sum()))), by_chance, float(residuals[worst]), cell


def _misfit_by_chance(expected: Floats, met: Integers, spread: Floats, weights: Floats) -> float:
    """Return the quantile of ‖A − A_BT‖ by chance without draws: its square is a sum over very many cells, so normal.

    Second and fourth moments are the binomial's. Shapes (N,).
    """
    variance = expected * (1 - expected)
    second = spread**2 * variance / met
    fourth = spread**4 * variance * (1 + 3 * (met - 2) * variance) / met**3
    mean, square = float(weights @ second), float(weights**2 @ (fourth - second**2))
    return math.sqrt(mean + NormalDist().inv_cdf(_CHANCE_QUANTILE) * math.sqrt(square))


def tied(games: Integers, places: Collection[int]) -> NDArray[np.bool_]:
    """Return which policies a chain of battles ties to those at ``places``, shape (K,); ``games`` has shape (K, K)."""
    reached: NDArray[np.bool_] = np.zeros(len(games), dtype=bool)
    reached[list(places)] = True
    met = games > 0
    newly = reached
    while newly.any():
        newly = met[newly].any(axis=0) & ~reached
        reached = reached | newly
    return reached


def _apart(games: Integers, is_tied: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which pairs neither a chain of battles nor the tied policies' anchors connect, shape (K, K)."""
    connected = np.outer(is_tied, is_tied)
    for place in np.flatnonzero(~is_tied).tolist():
        connected[place] = tied(games, [place])
    return ~connected & ~connected.T


def _unanchored(names: Sequence[str], is_tied: NDArray[np.bool_], fixed: Mapping[int, float]) -> list[str]:
    """Warn of policies that no chain of battles ties to an anchor, or without any to the first policy."""
    tied_to = "the anchors" if fixed else repr(names[0])
    return [
        f"no chain of battles ties {name!r} to {tied_to}: its rating is no measurement"
        for name, is_one_tied in zip(names, is_tied, strict=True)
        if not is_one_tied
    ]


def _unbounded(names: Sequence[str], scores: Floats, games: Integers, fixed: Mapping[int, float]) -> list[str]:
    """Warn of policies that won everything or nothing: only the penalty bounds their rating."""
    warnings = []
    scored, met = scores.sum(axis=1), games.sum(axis=1)
    for index, (name, score, played) in enumerate(zip(names, scored, met, strict=True)):
        if played and score in (0, played) and index not in fixed:
            what, bound = ("won", "above") if score else ("lost", "below")
            warnings.append(
                f"{name!r} {what} all its {played} games: only Firth's penalty bounds its rating from {bound}"
            )
    return warnings


def _reversals(names: Sequence[str], tally: Tally, elo: Floats, misfit: float, by_chance: float) -> list[str]:
    """Warn of a cyclic payoff and name its clearest reversals: pairs whose lower rated policy wins."""
    scores, games = tally.scores, tally.games
    _, high = cell_intervals(tally)
    found = sorted(
        (float(scores[i, j] / games[i, j]), names[i], names[j], int(games[i, j]))
        for i, j in np.argwhere((games > 0) & (elo[:, None] >= elo[None, :]) & (high < EVEN))
    )
    warning = (
        f"the payoff is not transitive: ratings miss it by {misfit:.3f} in score, by chance at most {by_chance:.3f} "
        "in 95 %; they do not predict single pairs"
    )
    return [
        warning,
        *(
            f"{high!r} is not rated below {low!r} and yet scores {score:.3f} against it in {met} games"
            for score, high, low, met in found[:_MOST_REVERSALS]
        ),
    ]
