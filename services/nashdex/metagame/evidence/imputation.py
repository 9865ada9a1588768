"""Payoffs of cells without battles, imputed as the user chooses. K policies, D draws.

``block`` refuses. ``bradley-terry`` uses the predictions of the ratings, and is right as far as strength is transitive.
``interval`` takes the worst case over the cell's confidence box, which for an unplayed cell is all of [0, 1];
``_worst_case`` explains the case in which one player's worst case is the other's best.

An imputed number is not a measurement: solving publishes its cell, and no exploitability that rests on it if the cell
touches the support of the mixture (``touches_support``).
"""

from collections.abc import Collection, Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from nashdex.core.seeds import derive_seed
from nashdex.metagame.equilibria import zero_sum_equilibrium
from nashdex.metagame.evidence.counts import unplayed_cells
from nashdex.metagame.evidence.estimates import (
    EVEN,
    CellDraws,
    Floats,
    expected_scores,
    posterior_of_cells,
    require_played,
)
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.ratings.bradley_terry import expected_scores_of, fit

Imputation = Literal["block", "bradley-terry", "interval"]
Mask = NDArray[np.bool_]
Name = TypeVar("Name", bound=str)
Cells = tuple[tuple[Name, Name], ...]

_TIE = 1e-9
"""Largest difference by rounding of two equal products of probabilities."""


def filled(policies: Sequence[Name], tally: Tally, how: Imputation) -> tuple[Floats, Cells[Name]]:
    """Return P of shape (K, K), played cells as measured, and the cells that were imputed.

    P_ij + P_ji = 1 everywhere, and ½ on the diagonal. Every value follows the ids, not their places; the cells come in
    the order of ``policies``.

    Raises:
        DataError: ``how`` is to block, and a pair has not met.
    """
    games = tally.games
    if how == "block":
        require_played(policies, games)
    imputed = tuple(unplayed_cells(policies, games.tolist()))
    if not imputed:
        return expected_scores(tally), ()
    unplayed = (games == 0) & ~np.eye(len(games), dtype=bool)
    scores = expected_scores(tally)
    if how == "bradley-terry":
        guessed = expected_scores_of(fit(tally.scores, games.astype(np.float64), {}).theta)
    else:
        guessed = _worst_case(scores, unplayed)
    return np.where(unplayed, guessed, scores), imputed


def filled_cells(
    policies: Sequence[Name],
    tally: Tally,
    filled_scores: tuple[Floats, Cells[Name]],
    how: Imputation,
    *,
    num_draws: int,
    seed: int,
) -> CellDraws:
    """Return a function that draws a cell's score, of a played cell from its posterior, of an imputed one widely.

    With ``bradley-terry`` an imputed cell is drawn from Beta(p, 1 − p) about the prediction p. It has the
    weight of one battle, like the prior Beta(½, ½) of the other cells, but its mean is the prediction.
    With ``interval`` it is one end of the box or the other, each half of the time, which no distribution on the box
    exceeds in variance.

    A played cell's draws follow from ``seed``, its ids and its counts, as in ``posterior_scores``; an imputed one's
    from ``seed``, its ids and, with ``bradley-terry``, the prediction.

    ``filled_scores`` is the result of ``filled``.
    """
    predicted, imputed = filled_scores
    played = posterior_of_cells(policies, tally, num_draws=num_draws, seed=seed)
    guessed = {frozenset(cell) for cell in imputed}

    def draws_of(i: int, j: int) -> Floats:
        if not guessed or frozenset((policies[i], policies[j])) not in guessed:
            return played(i, j)
        generator = np.random.default_rng(derive_seed(seed, "imputed", policies[i], policies[j]))
        if how == "interval":
            return generator.integers(2, size=num_draws).astype(np.float64)
        return generator.beta(predicted[i, j], predicted[j, i], size=num_draws)

    return draws_of


def touches_support(imputed: Collection[tuple[Name, Name]], support: Collection[Name]) -> bool:
    """Return whether a cell of ``imputed`` affects the score of the mixture over ``support`` against some member.

    One policy of the cell in the support is enough: the other may exploit it. Cells between two policies outside the
    support have no effect.
    """
    members = set(support)
    return any(not members.isdisjoint(cell) for cell in imputed)


def _worst_case(scores: Floats, unplayed: Mask) -> Floats:
    """Return for every cell the end of its box that judges the most cautious mixture worst, of shape (K, K).

    The most cautious mixture σ maximises what it surely scores, min_j Σ_i σ_i L_ij, where L has every unplayed cell at
    0, lost by the row: an opponent j may win all that was never tried against it. With the opponents τ that hold σ to
    that, it is the equilibrium of the zero-sum game L. (Robust games: Aghassi and Bertsimas 2006.)

    L itself is no game of one population: both policies of a cell cannot lose it. Among the matrices P of such games,
    the returned one minimises σᵀPτ: i loses to j where σ_i τ_j > σ_j τ_i, wins where it is less, and ½ where the two
    are equal, when the cell does not matter to σ or it hedges both ways alike. So an unknown policy neither gets the
    whole mixture, as it would if the present mixture lost every unplayed cell, nor is shut out of it.
    """
    pessimistic = np.where(unplayed, 0.0, scores)
    robust = zero_sum_equilibrium(pessimistic - EVEN)
    leaning = np.outer(robust.row, robust.column)
    leaning = leaning - leaning.T
    return np.where(np.abs(leaning) <= _TIE, EVEN, np.where(leaning > 0, 0.0, 1.0))
